"""Words too general to tell whether a rewrite keeps a question: function words and the small change of talk."""

from __future__ import annotations

WEAK_ZH = frozenset(
    """
    的 了 着 过 地 得 之 所 等 等等 和 与 及 或 或者 以及 跟 同 而 而且 并 并且 但 但是 不过 可是 然而 却 如果 假如
    要是 那么 那 这 那个 这个 那些 这些 那种 这种
    那里 这里 那儿 这儿 那边 这边 那部 这部 那首 这首 那家 这家 那位 这位 此 该 其 其中 其他 其它 另外 另 别的 某 每
    各 它 它们 他 他们 她 她们 我 我们 你 你们 您 咱
    咱们 大家 人家 自己 谁 什么 啥 哪 哪个 哪些 哪里 哪儿 哪种 哪位 哪一 怎么 怎样 怎么样 如何 咋 为什么 为何 为啥
    多少 几 多 多久 何时 何 吗 呢 吧 啊 呀 哦 嗯 哈 哈哈
    嘛 啦 哇 哎 唉 噢 喔 诶 欸 嘿 呵呵 哟 么 是 是不是 是否 不是 有 有没有 没有 没 不 也 都 还 还有 就 就是 才 又 再
    只 只有 很 挺 非常 真 真的 太 最 更 比较 特别 十分
    在 于 从 到 对 对于 关于 把 被 给 让 向 往 由 由于 因为 所以 因此 为 为了 以 用 按 按照 根据 比 除了 包括 里 里面
    上 下 中 内 外 前 后 时 时候 时间 之前 之后 以前 以后 现在
    目前 当时 刚才 一 一个 一些 一下 一点 一样 一直 一般 两 个 种 些 部 首 位 次 件 条 家 本 点 些 样 能 能够 可以 可
    会 要 想 应该 需要 必须 愿意 敢 肯 得 请 请问 麻烦
    谢谢 好 好的 行 对 对了 对吧 没错 当然 其实 反正 确实 可能 也许 大概 好像 似乎 已经 正在 曾经 曾 正 将 将要 快
    马上 先 然后 接着 最后 知道 晓得 了解 清楚 记得 听说
    听过 看过 说 说说 讲 讲讲 告诉 介绍 聊 聊聊 谈 问 问问 觉得 认为 感觉 以为 想想 看 看看 看来 来 去 做 弄 搞 叫
    叫做 称 东西 事 事情 方面 情况 内容 信息 话 话说 问题
    喜欢 具体 到底 究竟 难道 之类 之一 左右 我想 想知道 想问 同样 一起 全 全部 所有 任何 而言 来说 的话 还是 来着 罢了
    而已 起来 出来 下来 过来 呗 嗨 一句 不知 懂
    个人 不少 看样子 多长时间 多大 多长 很多 许多 多多少少 钱 岁 年 月 日 号 点 分 时 地方 是否是 哪张 哪首 哪部 哪年
    哪一年 哪天 哪国 几年 今年 听起来 起 记 该 还记得 人 名 一名 一位
    好多 好几 查 查到 查找 找 找到 搜 搜到 打听 考考 推荐 回头 的话 其间 便 像 听 没想到 原来 怪不得 难怪 总之 哪一个
    何 之处 行不行 可不可以 能否 可否 好不好 对不对 会不会 属于 怎么办
    """.split()  # noqa: SIM905
)
"""Chinese words without content of their own, particles, general verbs of knowing and telling."""

WEAK_EN = frozenset(
    """
    a an the this that these those it its they them their theirs he him his she her hers we us our ours you your yours
    i me my mine myself yourself itself themselves
    one ones other others another some any all each every both either neither such same own few more most many much
    several lot lots bit what which who whom whose when
    where why how whether if then else than so as and or but nor yet because since while although though of at by for
    with about against between into through during
    before after above below to from up down in out on off over under again further once here there now just also too
    very really quite only even still ever already
    always maybe perhaps please thanks thank ok okay yes yeah no not never hi hello hey well oh um like be is am are
    was were been being do does did doing done have has
    had having can could will would shall should may might must ought need needs let lets get gets got getting give
    gives gave given make makes made go goes going went gone
    come comes came take takes took taken put use used using say says said saying tell tells told telling know knows
    known think thinks thought want wants wanted wish mean
    means meant look looking looks see seen show shows find help try explain describe provide clarify elaborate
    discuss mention mentioned regarding concerning related
    question questions answer answers information info detail details thing things stuff something anything nothing
    everything someone anyone everyone way ways kind kinds
    sort type types example examples case specific specifically particular exactly actually simply basically instead
    etc via per within without upon vs able possible
    bye goodbye good nice great fine cool welcome cannot instead longer rather wonder wondering keep keeps tried trying
    s t re ve ll d m im ive id dont doesnt didnt isnt arent wasnt cant couldnt wont wouldnt shouldnt whats wheres hows
    thats theres lets gonna wanna
    don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't i'm
    i've i'd i'll you're you've you'd you'll it's that's
    there's here's what's where's who's how's when's why's let's he's she's we're we've we'd we'll they're they've
    they'd they'll
    """.split()  # noqa: SIM905
)
"""English words without content of their own, auxiliaries, general verbs of knowing and telling."""
