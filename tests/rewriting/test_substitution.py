from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.fragments import fragment
from llama_index_condense_plus.rewriting.joins import joined
from llama_index_condense_plus.rewriting.substitution import substituted


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("When does the north gate close?", "And the south gate?", "When does the south gate close?"),
        ("What was the GDP of Portugal in 2019?", "What about 2021?", "What was the GDP of Portugal in 2021?"),
        ("Can I bring a laptop into the hall?", "A calculator?", "Can I bring a calculator into the hall?"),
        ("How do I cancel a monthly pass?", "What about a yearly one?", "How do I cancel a yearly pass?"),
        ("Who wrote The Quiet Tide?", "Ember Street?", "Who wrote Ember Street?"),
        ("星河空调的制冷功率是多少？", "制热呢？", "星河空调的制热功率是多少？"),
        ("年假一般有几天？", "那病假呢？", "病假一般有几天？"),
        ("大会议室能坐多少人？", "小的呢？", "小会议室能坐多少人？"),
        ("北辰能源2023年营收多少？", "净利润呢？", "北辰能源2023年净利润多少？"),
        ("《长夜》是谁写的？", "《海谣》呢？", "《海谣》是谁写的？"),
        ("宁德时代的营收是多少？", "比亚迪呢？", "比亚迪的营收是多少？"),
        ("药明康德的市盈率高吗？", "恒瑞医药呢？", "恒瑞医药的市盈率高吗？"),
        ("周杰伦演唱会门票多少钱？", "林俊杰呢？", "林俊杰演唱会门票多少钱？"),
        ("北京图书馆几点开门？", "上海呢？", "上海图书馆几点开门？"),
        ("北京大学计算机系的分数线多少？", "清华呢？", "清华计算机系的分数线多少？"),
        ("小米14的电池多大？", "华为P60呢？", "华为P60的电池多大？"),
        ("杭州明天天气怎么样？", "后天呢？", "杭州后天天气怎么样？"),
        ("健身房周三有课吗？", "那周日呢？", "健身房周日有课吗？"),
        ("图书馆下午人多吗？", "上午呢？", "图书馆上午人多吗？"),
        ("信用卡逾期一天会上征信吗？", "那逾期一周呢？", "信用卡逾期一周会上征信吗？"),
        ("住宿两晚多少钱？", "三晚呢？", "住宿三晚多少钱？"),
        ("孩子发烧38度怎么办？", "39度呢？", "孩子发烧39度怎么办？"),
        ("星海轿车前驱版的油耗是多少？", "后驱版的呢？", "星海轿车后驱版的油耗是多少？"),
        ("云雀音箱白色款有货吗？", "黑色款的呢？", "云雀音箱黑色款有货吗？"),
        ("感冒了可以喝咖啡吗？", "绿茶呢？", "感冒了可以喝绿茶吗？"),
        ("痛风患者能吃香菇吗？", "高血压患者呢？", "高血压患者能吃香菇吗？"),
        ("红烧肉要放糖吗？", "盐呢？", "红烧肉要放盐吗？"),
        ("成人票多少钱？", "儿童呢？", "儿童票多少钱？"),
        ("羽毛球单打场地多宽？", "双打呢？", "羽毛球双打场地多宽？"),
        (
            "How much is the ticket to the Louvre?",
            "And the Orsay museum?",
            "How much is the ticket to the Orsay museum?",
        ),
        ("紫金矿业的黄金储量有多少？", "山东黄金呢？", "山东黄金的黄金储量有多少？"),
        ("奔驰E级的保养多少钱？", "宝马5系呢？", "宝马5系的保养多少钱？"),
        ("领航手表蓝牙版能打电话吗？", "eSIM版的呢？", "领航手表eSIM版能打电话吗？"),
        ("星海平板128G版多少钱？", "256G版的呢？", "星海平板256G版多少钱？"),
        ("川崎病的治疗费用高吗？", "水痘呢？", "水痘的治疗费用高吗？"),
        ("How long does a flight to Tokyo take?", "and jet lag?", None),
        ("When do courses in biology start?", "And for design?", "When do courses in design start?"),
        ("莫言获奖是哪年？", "屠呦呦呢？", "屠呦呦获奖是哪年？"),
        ("What's the rate on the Gold account?", "the Platinum one?", "What's the rate on the Platinum account?"),
        ("打疫苗后能洗澡吗？", "喝酒呢？", "打疫苗后能喝酒吗？"),
        ("MacBook Air的续航多久？", "Pro呢？", "MacBook Pro的续航多久？"),
        ("Can I bring sunscreen in hand luggage?", "and deodorant?", "Can I bring deodorant in hand luggage?"),
        ("How much protein is in chicken breast?", "And salmon?", "How much protein is in salmon?"),
        (
            "What's the dosage of amoxicillin for adults?",
            "for children?",
            "What's the dosage of amoxicillin for children?",
        ),
        (
            "What's the return policy for electronics?",
            "for opened items?",
            "What's the return policy for opened items?",
        ),
        ("When is the entrance to Mosel Hall free?", "and the Old Mill?", "When is the entrance to the Old Mill free?"),
        ("What does storage cost on AWS?", "and Azure?", "What does storage cost on Azure?"),
        ("Is AWS cheaper than Azure?", "and Google Cloud?", "Is AWS cheaper than Google Cloud?"),
        ("Is aspirin safe during pregnancy?", "And paracetamol?", "Is paracetamol safe during pregnancy?"),
        ("Does the warranty cover water damage?", "And theft?", "Does the warranty cover theft?"),
        ("What's the speed limit in villages?", "on highways?", "What's the speed limit on highways?"),
        ("How long does shipping to Canada take?", "and customs fees?", None),
        ("How long does delivery take?", "and import duties?", None),
        ("Can I rent skis here?", "The deposit?", None),
        ("方案A和方案B哪个好？", "优缺点呢？", None),
    ],
)
def test_substituted_replaces_the_counterpart(question: str, message: str, expected: str | None) -> None:
    new = fragment(message)
    assert new is not None
    assert substituted(question, new) == expected


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("How much is a ticket?", "And for kids?", "How much is a ticket for kids?"),
        ("How much is a ticket?", "students?", "How much is a ticket for students?"),
        ("Is the sauna open?", "on Sundays?", "Is the sauna open on Sundays?"),
        ("Is the sauna open?", "Sundays?", "Is the sauna open on Sundays?"),
        ("Is the sauna open?", "And in winter?", "Is the sauna open in winter?"),
        ("Is the sauna open?", "tomorrow?", "Is the sauna open tomorrow?"),
        ("Is parking free for residents?", "Visitors?", "Is parking free for visitors?"),
        ("故宫门票多少钱？", "学生呢？", "学生故宫门票多少钱？"),
        ("故宫几点开门？", "周末呢？", "周末故宫几点开门？"),
        ("华为的营收是多少？", "2022年呢？", "2022年华为的营收是多少？"),
        ("劳动合同怎么解除？", "试用期内呢？", "试用期内劳动合同怎么解除？"),
        ("蔚蓝轿车多少钱？", "四驱版呢？", "蔚蓝轿车四驱版多少钱？"),
        ("蔚蓝轿车的油耗是多少？", "四驱版呢？", "蔚蓝轿车四驱版的油耗是多少？"),
        ("医保报销比例是多少？", "退休人员呢？", "退休人员医保报销比例是多少？"),
        ("How do I enable dark mode in Slack?", "on mobile?", "How do I enable dark mode in Slack on mobile?"),
        ("How do I cook brown rice?", "in a rice cooker?", "How do I cook brown rice in a rice cooker?"),
        ("怎么退票？", "学生呢？", "学生怎么退票？"),
    ],
)
def test_substituted_adds_what_takes_the_place_of_nothing(question: str, message: str, expected: str | None) -> None:
    new = fragment(message)
    assert new is not None
    assert substituted(question, new) == expected


@pytest.mark.parametrize(
    "message", ["它呢？", "多少钱？", "And how much is it?", "电子版行不行？", "Thanks", "超期了呢？"]
)
def test_fragment_leaves_what_says_more(message: str) -> None:
    assert fragment(message) is None


@pytest.mark.parametrize(
    ("topic", "clause", "expected"),
    [
        ("Gale Hut", "The price?", "What is the price of Gale Hut?"),
        ("the pool", "How deep?", "How deep is the pool?"),
        ("the tent", "What is the price?", "What is the price of the tent?"),
        ("the abbey", "Is there an entrance fee?", "Is there an entrance fee for the abbey?"),
        ("GTE-3000", "保修期多长？", "GTE-3000的保修期多长？"),
        ("绿萝", "怎么浇水？", "绿萝怎么浇水？"),
        ("电动车棚", "收费吗？", "电动车棚收费吗？"),
        ("电动车棚", "收费多少？", "电动车棚的收费多少？"),
    ],
)
def test_joined_reads_as_one_question(topic: str, clause: str, expected: str) -> None:
    assert joined(topic, clause) == expected
