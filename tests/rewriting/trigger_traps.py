"""Follow-ups and their look-alikes: each with what was said before, and whether it needs a rewrite."""

from __future__ import annotations

HISTORIES: dict[str, tuple[str, ...]] = {
    "phone": (
        "你们的GTE-3000手机怎么样？",
        "GTE-3000 是我们的旗舰手机，有标准版和尊享版两种，电池续航两天，支持快充。",
    ),
    "plan": ("套餐用完了怎么办？", "您可以购买加油包，或升级套餐。"),
    "film": ("你看过《他》这部电影吗？", "看过，《他》讲的是一个普通人的故事，导演很有名。"),
    "month": ("帮我查一下社保缴费记录", "请问您要查询哪个月份的？"),
    "city": ("我想查天气", "您在哪个城市？"),
    "error": ("程序启动失败", "常见原因有配置错误、端口占用和权限不足。请问日志里有什么？"),
    "hr": ("年假有几天？", "入职满一年有5天年假，满十年有10天。"),
    "person": ("李安导演过哪些电影？", "李安导演过《卧虎藏龙》《少年派的奇幻漂流》等电影，两次获得奥斯卡最佳导演。"),
    "product": (
        "How much is the Aurora 500 printer?",
        "The Aurora 500 costs $299. It prints 40 pages a minute and has a two-year warranty.",
    ),
    "options": (
        "Which plans do you offer?",
        "There are two plans: option A is cheap, option B includes support. Which size is your team?",
    ),
    "which": ("I need help with my router.", "Which model do you have?"),
    "history": (
        "Who was Marie Curie?",
        "Marie Curie was a Polish-French physicist who discovered polonium and radium.",
    ),
    "show": ("What podcasts do you know?", "Popular podcasts are This American Life, Serial and Radiolab."),
    "code": ("How do I read a file in Python?", "Use open() in a with statement, then call read()."),
}
"""Conversations by name: user, assistant, …"""

NEEDS: dict[str, tuple[str, ...]] = {
    "phone": (
        "它多少钱？", "那它呢", "价格呢", "那价格呢？", "那么价格呢", "费用呢", "还有吗", "还有别的颜色吗？",
        "保修期呢", "第二种多少钱？", "后者有什么优势？",
        "哪个更好？", "尊享版呢", "怎么申请退货？", "多久能充满？", "這個多少錢？", "它的續航怎麼樣",
        "他怎么那么贵", "这样可以吗", "支持5G吗？", "这种手机防水吗？",
        "该产品的保修政策是什么", "其优点是什么？", "后续还会降价吗", "上面说的快充是多少瓦？",
        "你刚才提到的尊享版有什么不同？", "它的 API 限流呢", "两者有什么区别？",
        "为什么？", "具体呢", "详细说说", "和苹果比呢？", "另外一款呢", "更便宜的有吗", "接下来怎么买", "多少钱",
        "嗯，听起来不错。它是哪年上市的？", "好的，那重量呢？", "那如果坏了呢？", "GTE-5000呢？", "比苹果贵多少？",
        "后者防水吗", "好的，我要第二种", "以上两种哪种好", "好的，再便宜点行吗",
    ),
    "plan": (
        "升级套餐多少钱", "加油包怎么买？", "那后来呢？", "怎么办理", "还有其他办法吗？", "第一个怎么弄",
        "有效期多久？", "前者贵吗",
    ),
    "film": (
        "是哪年上映的呀？", "导演是谁", "他是谁演的？", "这部电影获过奖吗", "该公司还拍过什么？",
        "那家公司还出品过什么？", "还有谁参演？", "后来他怎么样了？", "好看吗",
    ),
    "month": ("五月", "上个月", "3月的", "去年12月", "全部"),
    "city": ("沈阳", "北京", "我在上海", "广州市天河区", "海口"),
    "error": ("失败的原因是什么", "端口占用", "没有日志", "怎么看", "还是不行", "第三种怎么解决？", "是的"),
    "hr": ("病假呢？", "不满一年呢", "怎么申请？", "没休完怎么办", "可以分开休吗？", "那试用期呢"),
    "person": (
        "他还导演过什么？", "他是哪里人", "第二部讲的是什么？", "什么时候得的奖", "他结婚了吗", "最新作品是什么",
        "代表作是哪部",
    ),
    "product": (
        "And the price?", "What about the warranty?", "Is it cheaper than the old one?", "How fast is it?",
        "Does it support duplex?", "and toner?", "What does that cost?", "more expensive?",
        "Is it possible to return it?", "How do I set it up?", "What colors are available?",
        "Which one is better?", "How long does it take to ship?", "Why?", "Can I get a discount?",
        "Are there other models?",
        "What are the dimensions?", "Tell me more", "What else?", "Is that including tax?",
        "ok, and how heavy is it?", "How about the Aurora 300?", "Where can I buy one?", "what about delivery",
        "Can you explain your last answer?", "the cheaper one", "Do you have it in black?", "how much",
        "And refills?", "What about the Borealis 7?", "Thanks, and the warranty?", "Great, how heavy is it?",
        "Is the latter cheaper?",
    ),
    "options": (
        "the latter", "Option B", "the second one please", "Which is better?", "What is included?", "ten people",
        "B", "Yes, B", "What's the difference?", "is it cheaper?", "How much is the first one?",
    ),
    "which": ("the AX3000", "Yes, B1", "RT-500", "I don't know", "the white one", "yes"),
    "history": (
        "When was she born?", "What did she discover?", "Who was her husband?", "Where did they work?",
        "Why was that important?", "When did she die?", "Did she win a prize?", "What were the effects?",
        "And her daughter?", "What happened after that?", "How was it received?", "Where was she buried?",
    ),
    "show": ("Who hosts it?", "How long is the first one?", "Which is the oldest?", "Are they free?"),
    "code": (
        "And how do I write one?", "What about binary?", "Why use that?", "Can you show an example?",
        "Does it close automatically?",
    ),
}  # fmt: skip
"""Messages that need a rewrite, by conversation."""

NEEDS_NONE: dict[str, tuple[str, ...]] = {
    "phone": (
        "谢谢", "好的", "你好", "好的，谢谢！", "再见", "GTE-5000 的保修期呢", "GTE-5000的价格是多少？",
        "土耳其的首都是哪里？", "吉他怎么调音？", "《这个杀手不太冷》是哪年上映的？",
        "“这个”和“那个”在《现代汉语词典》里怎么解释？", "土耳其有哪些其他城市值得去？", "珠穆朗玛峰有多高？",
        "GTE-3000和GTE-5000哪个更好？", "`this.state` 在 React 里是什么意思？", "好的好的", "明白了", "嗯嗯",
        "维他命C应该什么时候吃？", "iPhone 15 Pro 支持 eSIM 吗？", "您好", "辛苦了",
        "好的，那我去看看", "谢谢你的耐心解答！",
        "没有别的问题了，谢谢", "哈哈真不错", "谢谢老师，再见", "换个问题，滴滴发票怎么开？",
    ),
    "plan": ("谢谢啦", "珠海移动的客服电话是多少？"),
    "film": (
        "《泰坦尼克号》的导演是谁？", "你知道张艺谋是哪里人吗？", "周杰伦的生日是哪天？", "《他》的导演是谁？",
        "莱昂纳多·迪卡普里奥出演过《盗梦空间》吗？",
    ),
    "month": ("谢谢",),
    "error": ("这样的错误码 E42 怎么处理", "Kubernetes 的 Pod 一直 Pending 是什么原因？", "Nginx 怎么配置 HTTPS？"),
    "hr": ("产假可以休多少天？", "那么多文件怎么归档"),
    "person": (
        "王家卫的《花样年华》是哪年上映的？", "诺贝尔文学奖得主莫言是哪里人？", "马尔代夫的首都是哪里？",
        "其实我想问，王家卫导演是哪里人？",
    ),
    "product": (
        "thanks", "Thank you!", "hello", "ok thanks", "Great, thank you very much.", "Goodbye",
        "What is the phone number of the IT department?", "Is it possible to print from an iPhone over Bluetooth?",
        "What is the capital of Mongolia?", "Who founded Hewlett-Packard?",
        "Does the Epson EcoTank 2800 support duplex printing?", "Thanks, that's all I need", "Got it", "Bye!",
        "Is it safe to mix bleach with vinegar?", "Great, I'll order one. Thanks!", "Thanks for the quick help!",
        "haha looks good", "Thank you so much, goodbye!",
        "If a tenant moves out early, does he have to pay the rent until June?",
        "Different question: how do I roast chestnuts in an oven?",
    ),
    "options": (
        "Who is the CEO of Microsoft?", "hi there", "How does the Norwegian parliament elect the prime minister?",
    ),
    "which": ("How do I reset a Netgear Nighthawk router?", "Thank you, goodbye."),
    "history": (
        "When did Albert Einstein move to Princeton?", "What did Alexander Fleming discover?",
        "Is it raining in Warsaw?", "What is penicillin and how was it discovered?", "Who directed the film It?",
        "Who hosts This American Life?",
        "Did Marie Curie win the Nobel Prize in Chemistry?",
        "What is the Heisenberg principle and why is it important?",
    ),
    "show": ("Who narrates the audiobook of Sapiens?",),
    "code": (
        'What does "it" mean in Jasmine tests?', "What does `this` refer to in JavaScript?",
        "How do I parse JSON in Rust?", "What is the difference between TCP and UDP?",
    ),
}  # fmt: skip
"""Messages that need no rewrite, by conversation."""
