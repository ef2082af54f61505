"""Words that ask for the same thing: 岁数 and 年龄, "price" and "cost"; general ones only."""

from __future__ import annotations

SYNONYMS_ZH = (
    "岁数 年龄 年纪 年岁 多大 几岁 出生", "地址 位置 地点 在哪 哪里 地方 哪儿 坐落 位于",
    "电话 号码 联系方式 手机号 联系电话", "价格 价钱 多少钱 费用 售价 收费 票价 门票 单价 多钱 要钱 价位",
    "电影 片子 影片 影视 片", "歌曲 歌 曲子 单曲 作品 专辑", "作品 电影 歌曲 专辑 书 小说", "担任 担当",
    "制作 制作人 制片", "上映 公映 放映 首映", "主演 演员 出演 扮演 主角 饰演 角色", "导演 执导",
    "玩 游玩 游览 逛 参观", "评分 口碑 评价 得分",
    "获奖 奖项 大奖 得奖 奖 荣誉 成就", "职业 工作 身份", "出生 生日 生于 诞辰", "毕业 院校 母校 学历 学校",
    "类型 题材 种类 类别", "景点 景区 风景区", "时间 几点 什么时候 何时 日期 多久 哪年 哪天 时长",
    "续航 电池 待机", "优点 优势 好处 长处", "缺点 劣势 坏处 不足 弊端", "区别 差别 差异 不同 对比",
    "步骤 流程 过程 怎么做", "方法 方式 办法 途径 怎么", "原因 理由 为什么 为何 怎么会", "材料 资料 证件 文件",
    "期限 有效期 多久 时限", "办理 申请 申办", "安装 部署 配置", "重启 重新启动", "删除 移除 清除 去掉",
    "修改 更改 变更 调整", "购买 买 采购 选购", "退货 退款 退换", "故障 报错 错误 异常", "支持 兼容 适用 适配",
    "老婆 妻子 太太 夫人", "老公 丈夫", "孩子 子女 儿子 女儿", "公司 企业", "医生 大夫",
    "经纪公司 签约公司 唱片公司 签约", "发行 发布 推出 出版", "演唱 唱 原唱", "名字 名称 叫什么 全名 本名 姓名",
    "附近 周边 周围",
    "简介 介绍 剧情 情节 内容 讲的", "推荐 建议", "多产 作品 产", "健在 在世 去世", "人气 知名度 名气 出名 有名",
    "收录 收入 包含",
)  # fmt: skip
"""Groups of Chinese words, one group a string."""

SYNONYMS_EN = (
    "price cost fee charge much expensive billable", "film movie", "buy purchase get", "sell sale", "start begin",
    "end finish stop", "big large size", "fast quick speed", "author writer wrote",
    "place location where address located", "phone telephone number", "reason why cause", "way method how",
    "difference differ vs versus compare", "benefit advantage pro", "drawback disadvantage con downside",
    "choose select pick", "fix solve resolve repair", "error problem issue trouble", "delete remove erase",
    "change modify update edit", "make create build", "use usage utilize", "need require requirement",
    "maximum max longest highest most limit", "minimum min least lowest", "kind type sort", "doctor physician",
    "illness disease", "kid child children", "important significance importance", "help assist",
    "option choice alternative", "old age", "income salary earn", "main key primary", "consider think",
    "picture image photo", "company firm business", "euro europe", "describe explain tell",
)  # fmt: skip
"""Groups of English words, one group a string; compared by stem."""
