"""How the page of a trace looks, beside what all pages have."""

from __future__ import annotations

STYLE = """
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem }
h2 { font-size: 1.15rem; margin: 0 0 .5rem } h3 { font-size: .95rem; margin: 1.2rem 0 .4rem } h4 { font-size: .85rem; margin: .5rem 0 .2rem }
p { margin: .4rem 0 }
code, pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; unicode-bidi: isolate; tab-size: 4 }
pre { margin: .3rem 0; padding: .6rem .8rem; max-height: 30rem; overflow: auto; white-space: pre }
pre.wraps { white-space: pre-wrap }
.facts > * + *::before { content: "·"; color: var(--faint); margin: 0 .5rem; font-weight: 400 }
.prose { white-space: pre-wrap; unicode-bidi: plaintext }
.mark { font-weight: 600 } .mark.faint { font-weight: 400 }
.cut { color: var(--wary); font-style: italic }
article, .alarm, .plain, header .said { border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; margin: 1rem 0 }
header .said h2, article.said > h2 { font-size: .8rem; color: var(--faint); margin: 0; text-transform: uppercase; letter-spacing: .05em }
.said > details > summary h2 { font-size: .95rem; font-weight: 400 }
article.model, header .said { background: var(--box) }
.good-edge { border-left: 4px solid var(--good) } .bad-edge { border-left: 4px solid var(--bad) } .wary-edge { border-left: 4px solid var(--wary) }
.alarm { border-color: var(--bad); border-left-width: 4px } .alarm ul { margin: .3rem 0; padding-left: 1.2rem }
summary { cursor: pointer } summary h2, summary h3 { display: inline }
details > summary { padding: .2rem 0 }
.code { background: var(--box); border-radius: 6px; overflow: auto; max-height: 40rem; padding: .6rem .8rem }
.code ol { margin: 0; padding-left: 3em; font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.code li::marker { color: var(--faint) }
.code li code { white-space: pre; overflow-wrap: normal; display: block; min-height: 1.5em; width: max-content; min-width: 100% }
.code .failed > code { background: color-mix(in srgb, var(--bad) 18%, transparent) }
.code .at { margin: 0 0 .2rem; font: 12px/1.5 system-ui, sans-serif }
.call { border-top: 1px solid var(--line) }
.call > summary { display: grid; grid-template-columns: 1fr 14rem 13rem; gap: 0 .8rem; align-items: center; padding: .35rem 0 }
.call.proposal > summary { grid-template-columns: 1fr 13rem }
.call > summary::marker { content: "" }
.what::before { content: "▸ "; color: var(--faint) } [open] > summary > .what::before { content: "▾ " }
.end { font-size: 13px; color: var(--faint); text-align: right }
.call > :not(summary) { margin-left: 1.2rem } .call > p { font-size: 14px }
dd code { white-space: pre-wrap }
.bar { display: block; width: 100%; height: 1rem; background: var(--box); border-radius: 3px }
.fill { fill: currentcolor }
.steps { padding-left: 2.2em; margin: .5rem 0 }
.steps .end { flex: none }
.steps p { display: flex; justify-content: space-between; gap: 1rem; margin: 0 } .steps .bar { margin: .1rem 0 .5rem; height: .5rem }
dl { margin: .4rem 0; font-size: 14px } dl > div { display: grid; grid-template-columns: 9rem 1fr; gap: .5rem; padding: .15rem 0; border-top: 1px solid var(--line) }
dt { color: var(--faint) } dd { margin: 0 }
:target { outline: 2px solid var(--link); outline-offset: 4px; border-radius: 4px }
@media (max-width: 40rem) {
  body { margin: 1rem auto; padding: 0 .7rem } article, .alarm, .plain, header .said { padding: .6rem .7rem }
  .call > summary, .call.proposal > summary { grid-template-columns: 1fr 1fr } .what { grid-column: 1 / -1 }
  .call.proposal > summary > .end { grid-column: 1 / -1; text-align: left }
  .call > :not(summary) { margin-left: .4rem } dl > div { grid-template-columns: 6.5rem 1fr }
  .code ol { padding-left: 2.4em }
}
@media print {
  details::details-content { content-visibility: visible; block-size: auto }
  pre, .code { max-height: none; overflow: visible } pre, .code li code { white-space: pre-wrap; width: auto; overflow-wrap: anywhere }
  article { break-inside: auto } .call { break-inside: avoid } a { color: inherit }
}
"""
