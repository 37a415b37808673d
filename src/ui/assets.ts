/** Same-origin assets. Colours hold 4.5:1 on their ground in both schemes; nothing is said by colour alone. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1a1c1e; --soft: #5a6066; --line: #d5d9dd; --panel: #f5f6f7;
  --page: #b3261e; --ticket: #7a4f00; --good: #1b6e3c; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --ink: #e8eaec; --soft: #a6adb4; --line: #3a4046;
  --panel: #1d2125; --page: #ff8a80; --ticket: #f0b95a; --good: #7fd49b; --link: #8ec2ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); } a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, .scroll:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
[hidden], .said { position: absolute; left: -9999px; width: 1px; height: 1px; overflow: hidden; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--ground); padding: 8px; }
header { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center; padding: 12px 16px; border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; } nav ul { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: 6px 2px; } nav a[aria-current] { font-weight: 700; color: var(--ink); text-decoration: none; border-bottom: 2px solid var(--ink); }
main { max-width: 1200px; margin: 0 auto; padding: 16px; } h1 { font-size: 1.5rem; line-height: 1.25; margin: 8px 0 16px; }
h2 { font-size: 1.15rem; margin: 28px 0 8px; } h3 { font-size: 1rem; margin: 0 0 4px; } section > h3 { margin-top: 20px; }
.quiet, footer { color: var(--soft); } footer { max-width: 1200px; margin: 0 auto; padding: 16px; }
.cards, .plain, .evidence { padding: 0; margin: 0; list-style: none; } .evidence li::before { content: "– "; }
.card { border: 1px solid var(--line); border-left: 6px solid var(--line); background: var(--panel); border-radius: 6px; padding: 12px 16px; margin: 0 0 12px; }
.card.page { border-left-color: var(--page); } .card.ticket { border-left-color: var(--ticket); } .card p { margin: 4px 0; }
li:target { background: var(--panel); outline: 2px solid var(--link); outline-offset: 4px; }
.badge { font-weight: 700; white-space: nowrap; } .badge.page { color: var(--page); } .badge.ticket { color: var(--ticket); }
.lede { font-size: 1.05rem; } .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 12px; margin: 16px 0; }
.facts div { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px; } dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { text-align: left; vertical-align: top; padding: 6px 10px; border-bottom: 1px solid var(--line); } thead th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.state.no_data { color: var(--page); } .state.no_traffic { color: var(--ticket); } .state.measured { color: var(--good); }
.button, button { display: inline-block; min-height: 44px; padding: 10px 16px; border: 1px solid var(--ink); border-radius: 6px; background: var(--ground); color: var(--ink); font: inherit; text-decoration: none; cursor: pointer; }
.actions { display: flex; flex-wrap: wrap; gap: 12px; align-items: end; margin: 16px 0; } .actions label { display: grid; gap: 4px; color: var(--soft); }
fieldset { flex-basis: 100%; margin: 0; padding: 4px 12px; border: 1px solid var(--line); border-radius: 6px; }
.actions fieldset label { grid-template-columns: auto 1fr; align-items: center; min-height: 44px; color: var(--ink); }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; } input { min-height: 44px; padding: 8px; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: 6px; max-width: 100%; }
select, textarea { max-width: 100%; } input[type="checkbox"] { min-height: 0; width: 20px; height: 20px; } select { min-height: 44px; padding: 8px; font: inherit; color: inherit; background: var(--ground); }
.message { padding: 8px 12px; border: 1px solid var(--good); border-radius: 6px; }
.answers { margin: 12px 0; } .answers div { display: grid; grid-template-columns: 8em minmax(0, 1fr); gap: 0 12px; padding: 6px 0; border-bottom: 1px solid var(--line); } .answers dt { font-size: 1rem; } .answers dd { overflow-wrap: anywhere; }
.parts ul { display: flex; flex-wrap: wrap; gap: 0 16px; list-style: none; margin: 0; padding: 0; } .parts a { display: inline-block; padding: 6px 2px; }
.strip { min-width: 14em; width: 50%; } .strip svg { display: block; width: 100%; height: 24px; border: 1px solid var(--line); }
.strip .h1 { fill: color-mix(in srgb, var(--link) 45%, var(--ground)); } .strip .h2 { fill: color-mix(in srgb, var(--soft) 25%, var(--ground)); } .strip .h3 { fill: color-mix(in srgb, var(--page) 35%, var(--ground)); } .strip .h4 { fill: color-mix(in srgb, var(--page) 65%, var(--ground)); } .strip .h5 { fill: var(--page); }
.map { display: flex; flex-wrap: wrap; gap: 12px; } .zone { margin: 0; padding: 8px 12px; max-width: 100%; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); } .zone.named { border: 2px solid var(--page); }
.zone svg { display: block; max-width: 100%; height: auto; } .zone p { margin: 4px 0 0; max-width: 288px; font-size: .875rem; overflow-wrap: anywhere; }
.spot { fill: var(--ground); stroke: var(--soft); stroke-width: 1.5; } .spot.failing { fill: var(--page); } .spot.silent { stroke-dasharray: 3 3; } .spot.named, .cross { stroke: var(--ink); stroke-width: 2.5; } .cross { fill: none; }
.runbook pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 12px; } .runbook code, .runbook :is(td, th, a) { overflow-wrap: anywhere; }
.stages { min-width: 15em; }
.chart { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 2px 8px; margin: 12px 0; } .chart svg { width: 100%; height: 180px; border: 1px solid var(--line); background: var(--panel); }
.chart .scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; color: var(--soft); font-size: .875rem; font-variant-numeric: tabular-nums; }
.chart .ends { grid-column: 2; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; color: var(--soft); font-size: .875rem; } .chart figcaption { grid-column: 1 / -1; }
.line { fill: none; stroke: var(--look); stroke-width: 2; vector-effect: non-scaling-stroke; } .area { fill: var(--look); fill-opacity: .25; stroke: none; }
.zero { fill: none; stroke: var(--soft); stroke-width: 1; vector-effect: non-scaling-stroke; }
.key { margin-right: 12px; } .key::before { content: ""; display: inline-block; width: 28px; margin-right: 6px; vertical-align: middle; border-top: 3px solid var(--look); }
.key.b::before, .key.even::before { border-top-style: dashed; } .key.c::before, .key.limit::before { border-top-style: dotted; } .key.d::before, .key.e::before { border-top-style: double; border-top-width: 5px; }
.key.band::before { border-top-width: 12px; opacity: .35; }
.a { --look: var(--link); } .b { --look: var(--page); } .c { --look: var(--good); } .d { --look: var(--ticket); } .e { --look: var(--soft); } .even, .band { --look: var(--ticket); } .limit { --look: var(--page); }
.line.b, .line.even { stroke-dasharray: 8 4; } .line.c, .line.limit { stroke-dasharray: 2 4; } .line.d { stroke-dasharray: 12 3 2 3; } .line.e { stroke-dasharray: 1 2; }
.figures { margin: 8px 0; } summary { min-height: 32px; padding: 4px 0; cursor: pointer; }
.heat td.cell { text-align: right; font-variant-numeric: tabular-nums; padding: 4px 6px; border: 1px solid var(--line); } .heat .h1 { background: color-mix(in srgb, var(--link) 22%, var(--ground)); }
.heat .h3 { background: color-mix(in srgb, var(--page) 18%, var(--ground)); } .heat .h4 { background: color-mix(in srgb, var(--page) 34%, var(--ground)); font-weight: 700; } .heat .h5 { background: color-mix(in srgb, var(--page) 50%, var(--ground)); font-weight: 700; }
@media (max-width: 600px) { main { padding: 12px; } header { padding: 4px 12px; flex-wrap: nowrap; } header nav { min-width: 0; overflow-x: auto; } nav ul, .parts ul { flex-wrap: nowrap; } .parts { overflow-x: auto; } nav a { white-space: nowrap; }
  .answers div { display: block; padding: 4px 0; } .answers dt { font-size: .875rem; } .lede { font-size: 1rem; margin: 8px 0; } h1 { font-size: 1.25rem; }
  .stack thead { position: absolute; left: -999px; } .stack tr { display: block; padding: 8px 0; border-bottom: 2px solid var(--line); }
  .stack th, .stack td { display: block; border: 0; padding: 2px 0; overflow-wrap: anywhere; } .stack tbody th { font-size: 1.05rem; }
  .stack td::before { content: attr(data-label) ": "; color: var(--soft); } }
.weeks { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 16px; } .weeks a { padding: 6px 0; }
.todo { margin: 0; padding-left: 1.5em; } .todo li { margin: 0 0 8px; padding-left: 4px; }
@media print { :root { color-scheme: light; --ground: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb; --panel: #ffffff; --page: #8c1d18; --ticket: #5c3b00; --good: #14532d; --link: #0b3d7a; }
  header, footer, .skip, .weeks, form { display: none; } main { max-width: none; padding: 0; } .scroll { overflow: visible; }
  tr, figure, .card { break-inside: avoid; } h2, h3 { break-after: avoid; } a { color: inherit; } }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M8 1c1 3 4 4 4 8a4 4 0 0 1-8 0c0-2 1-3 2-4 0 2 1 2 1 3 1-2 1-4 1-7z" fill="#d9480f"/></svg>`;
