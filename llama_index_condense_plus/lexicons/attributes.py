"""Nouns that belong to something: "the price" asks of what, 价格 asks 什么的价格."""

from __future__ import annotations

ATTRIBUTES_EN = frozenset(
    {
        "address", "price", "cost", "name", "number", "phone", "telephone", "postcode", "zip", "code", "area",
        "location", "time", "date", "year", "age", "size", "weight", "length", "height", "width", "depth", "color",
        "colour", "type", "kind", "sort", "example", "reason", "cause", "effect", "symptom", "benefit", "advantage",
        "disadvantage", "drawback", "pro", "con", "difference", "similarity", "feature", "purpose", "function",
        "role", "history", "origin", "impact", "importance", "significance", "meaning", "definition", "treatment",
        "cure", "risk", "side", "limit", "limitation", "requirement", "fee", "rate", "option", "detail",
        "information", "info", "step", "process", "procedure", "method", "author", "director", "actor", "cast",
        "plot", "rating", "review", "population", "capital", "president", "owner", "founder", "ceo", "wife",
        "husband", "son", "daughter", "child", "children", "parent", "father", "mother", "brother", "sister",
        "family", "album", "song", "award", "career", "education", "result", "outcome", "conclusion", "summary",
        "version", "model", "brand", "range", "part", "member", "component", "element", "characteristic", "property",
        "quality", "problem", "issue", "solution", "alternative", "choice", "deadline", "duration", "period",
        "schedule", "hour", "opening", "closing", "discount", "warranty", "guarantee", "documentation", "document",
        "form", "source", "reference", "link", "website", "email", "contact", "place", "country", "city", "language",
        "ingredient", "recipe", "habitat", "diet", "lifespan", "speed", "capacity", "performance", "setting",
        "default", "value", "parameter", "argument", "syntax", "policy", "rule", "exception", "penalty",
        "consequence", "people", "person", "thing", "way", "bit", "idea", "plan", "team", "company", "school",
        "food", "restaurant", "movie", "film", "book", "event", "situation", "case", "fact", "reception", "response",
        "reaction", "relationship", "connection", "influence", "theme", "style", "structure", "goal", "objective",
        "strategy", "success",
    }
)  # fmt: skip
"""English nouns, in the singular."""

ATTRIBUTES_ZH = frozenset(
    {
        "价格", "价钱", "费用", "收费", "票价", "门票", "单价", "总价", "金额", "钱", "成本", "时间", "日期", "年份",
        "年龄", "年纪", "岁数", "大小", "尺寸", "重量", "长度", "高度", "宽度", "深度", "颜色", "类型", "种类",
        "类别", "例子", "示例", "原因", "理由", "结果", "影响", "症状", "好处", "坏处", "优点", "缺点", "优势",
        "劣势", "优惠", "折扣", "区别", "差别", "不同", "特点", "特色", "特征", "功能", "作用", "用途", "目的",
        "意义", "含义", "意思", "定义", "历史", "来源", "起源", "背景", "风险", "限制", "要求", "条件", "流程",
        "步骤", "方法", "方式", "办法", "途径", "手续", "材料", "资料", "证件", "文件", "表格", "电话", "号码",
        "地址", "地点", "位置", "网址", "邮箱", "联系方式", "名字", "名称", "全名", "本名", "原名", "别名", "外文名",
        "中文名", "英文名", "作者", "导演", "编剧", "演员", "主演", "主角", "歌手", "作曲", "作词", "作品", "代表作",
        "代表作品", "歌曲", "专辑", "电影", "奖项", "奖", "成就", "职业", "学历", "学校", "毕业", "毕业院校", "专业",
        "身高", "体重", "生日", "出生", "出生地", "国籍", "民族", "籍贯", "血型", "星座", "老婆", "妻子", "丈夫",
        "老公", "孩子", "父母", "父亲", "母亲", "家人", "家庭", "公司", "经纪公司", "唱片公司", "成员", "队员",
        "版本", "型号", "品牌", "规格", "参数", "性能", "质量", "速度", "容量", "范围", "部分", "组成", "内容",
        "情况", "信息", "问题", "解决方案", "方案", "选择", "选项", "期限", "有效期", "保修", "保修期", "周期",
        "时长", "片长", "票房", "评分", "口碑", "评价", "剧情", "情节", "故事", "结局", "主题", "主题曲", "插曲",
        "风格", "曲风", "语言", "国家", "地区", "城市", "人口", "面积", "气候", "景点", "周边", "附近",
        "特产", "美食", "酒店", "交通", "路线", "天气", "开放时间", "营业时间", "游玩时间", "上映", "上映时间",
        "上映日期", "发行", "发行时间", "发行日期", "首播", "制作", "出品", "出品公司", "投资", "规则", "政策",
        "标准", "比例", "利率", "费率", "额度", "年限", "次数", "数量", "人数", "负责人", "联系人", "部门", "老师",
        "规定", "后果", "处罚", "罚款", "例外", "注意事项", "事项", "细节", "东西", "事情", "人", "地方", "年", "月",
        "天", "话题", "方面", "净利润", "利润", "营收", "收入", "销量", "增长", "增长率", "市值", "股价", "预算",
        "进度", "状态", "权限", "密码", "账号", "默认值", "取值", "返回值", "错误", "报错", "日志", "配置", "设置",
        "接口", "文档", "教程", "链接", "图片", "照片", "视频", "数据", "来历", "由来", "寓意", "做法", "配料",
        "热量", "营养", "副作用", "剂量", "用量", "用法", "疗程", "禁忌", "适应症",
    }
)  # fmt: skip
"""Chinese nouns, and verbs that work like them."""
