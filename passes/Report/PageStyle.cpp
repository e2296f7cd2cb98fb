// The style sheet of a report page.
//
// Colours of kernels are those of Paul Tol's scheme `muted`, colours of communication those of
// Okabe and Ito; people with colour vision deficiencies can tell them apart. In dark mode, the dark
// ones are lighter.

#include "passes/Report/PageStyle.h"

const llvm::StringLiteral dpc::kPageStyle = R"css(
:root{color-scheme:light dark;
--bg:#fff;--panel:#f5f7f9;--line:#d3d9e0;--text:#1a1f26;--muted:#566070;--link:#0a55c4;
--k0:#8d959e;--k1:#117733;--k2:#882255;--k3:#cc6677;--k4:#999933;--k5:#d9c260;--k6:#aa4499;
--k7:#44aa99;--k8:#6bbfe0;--k9:#332288;
--c0:#d55e00;--c1:#0072b2;--c2:#d99a00;--c3:#56b4e9;--c4:#cc79a7;--wr:#6c7683;--ws:#9a5f86;
--m0:#332288;--m1:#6bbfe0;--m2:#999933;--m3:#d9c260;--m4:#d55e00;--m5:#cc79a7;--m6:#44aa99}
@media (prefers-color-scheme:dark){:root{
--bg:#0f141a;--panel:#19212b;--line:#36414e;--text:#e7ebf0;--muted:#a5b0bd;--link:#8db8ff;
--k0:#7c8691;--k1:#3fa65c;--k2:#c3588f;--k3:#dd7a8a;--k4:#b3b34a;--k6:#c667b6;--k9:#8579ea;
--c1:#3f9bd8;--c2:#e5ab1e;--wr:#98a3b0;--ws:#b97fa6;--m0:#8579ea;--m2:#b3b34a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
header,main,footer{max-width:1280px;margin:0 auto;padding:0 24px}
h1{font-size:1.9rem;line-height:1.2;margin:28px 0 4px;overflow-wrap:anywhere}
h2{font-size:1.35rem;margin:44px 0 12px;padding-top:12px;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:24px 0 8px;overflow-wrap:anywhere}
p{margin:6px 0;overflow-wrap:anywhere}
header p,figcaption,.note,footer{color:var(--muted);font-size:.9rem}
a{color:var(--link)}
a:focus-visible,button:focus-visible,.wide:focus-visible{outline:2px solid var(--link);outline-offset:2px}
nav ul{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:12px 0 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(136px,1fr));gap:12px;margin:24px 0 0}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px}
.card dt{color:var(--muted);font-size:.82rem}
.card dd{margin:2px 0 0;white-space:nowrap;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}
.card small{display:block;white-space:normal;color:var(--muted);font-size:.78rem;font-weight:400;line-height:1.35}
figure{margin:0}
figcaption{margin-top:8px}
.zoom{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 10px}
.zoom[hidden]{display:none}
button{font:inherit;font-size:.88rem;color:var(--text);background:var(--panel);border:1px solid var(--line);
border-radius:6px;padding:5px 12px;cursor:pointer}
button:hover{border-color:var(--link)}
.row{display:grid;grid-template-columns:140px minmax(0,1fr);gap:10px;align-items:center;margin:0 0 8px}
.who{font-size:.82rem;line-height:1.3;overflow-wrap:anywhere}
.who small{display:block;color:var(--muted);font-size:.75rem}
.chart{display:block;width:100%;border-radius:3px}
.lanes{height:48px;touch-action:pan-y}
.large{height:220px}
.small{height:64px}
.axis{position:relative;height:1.5em;margin-left:150px;border-bottom:1px solid var(--line);margin-bottom:8px;
font-size:.75rem;color:var(--muted);font-variant-numeric:tabular-nums;overflow:hidden}
.axis span{position:absolute;bottom:0;padding-left:4px;border-left:1px solid var(--line);white-space:nowrap}
.axis .late{transform:translateX(-100%);padding:0 4px 0 0;border-left:0;border-right:1px solid var(--line)}
.tall{height:76px}
.lane{fill:var(--panel)}
.k0{fill:var(--k0)}.k1{fill:var(--k1)}.k2{fill:var(--k2)}.k3{fill:var(--k3)}.k4{fill:var(--k4)}
.k5{fill:var(--k5)}.k6{fill:var(--k6)}.k7{fill:var(--k7)}.k8{fill:var(--k8)}.k9{fill:var(--k9)}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}
.wr{fill:var(--wr)}.ws{fill:var(--ws)}
.m0{fill:var(--m0)}.m1{fill:var(--m1)}.m2{fill:var(--m2)}.m3{fill:var(--m3)}.m4{fill:var(--m4)}
.m5{fill:var(--m5)}.m6{fill:var(--m6)}
.peak{fill:none;stroke:var(--text);stroke-width:1.5;stroke-dasharray:4 3;vector-effect:non-scaling-stroke}
.chart rect:not(.lane):hover,.chart path:hover{opacity:.72}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;padding:0;margin:6px 0 14px;font-size:.86rem}
.legend li{display:flex;align-items:center;gap:6px}
.key{width:14px;height:14px;border-radius:3px;flex:none}
.wide{overflow-x:auto;max-width:100%;margin:12px 0}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding:0 0 6px}
th,td{text-align:left;vertical-align:top;padding:5px 18px 5px 0;border-bottom:1px solid var(--line);white-space:nowrap}
td:first-child{white-space:normal;min-width:9em;max-width:34em;overflow-wrap:anywhere}
th{font-weight:600;border-bottom-width:2px}
.n{text-align:right}
.part .line{font-size:.9rem}
.part caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.map{overflow-x:auto}
.unit{display:inline-block;vertical-align:top;border:1px solid var(--line);border-radius:8px;padding:6px 8px;
background:var(--bg);margin:2px}
.unit .unit{background:var(--panel)}
.unit b{font-size:.75rem;font-weight:600;color:var(--muted)}
.units{display:flex;flex-wrap:wrap;gap:4px;margin-top:4px}
.rank{min-width:2.1em;text-align:center;font-size:.75rem;border-radius:4px;padding:1px 4px;
border-bottom:4px solid var(--k9);background:var(--panel);font-variant-numeric:tabular-nums}
.t1{border-color:var(--k7)}.t2{border-color:var(--k5)}.t3{border-color:var(--k3)}.t4{border-color:var(--k8)}
.t5{border-color:var(--k6)}.t6{border-color:var(--k4)}.t7{border-color:var(--k0)}
.unit i{font-size:.75rem;color:var(--muted);align-self:center}
footer{margin-top:48px;padding-bottom:32px}
@media (max-width:640px){
header,main,footer{padding:0 14px}
h1{font-size:1.5rem}
.cards{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}
.card dd{font-size:1.15rem}
.row{grid-template-columns:minmax(0,1fr);gap:2px}
.who small{display:inline;margin-left:8px}
.axis{margin-left:0}
.large{height:160px}}
@media print{
:root{--bg:#fff;--panel:#f5f7f9;--line:#c5ccd4;--text:#000;--muted:#444}
body{font-size:10pt}
header,main,footer{max-width:none;padding:0}
nav,.zoom{display:none}
.wide,.map{overflow:visible}
table{font-size:8pt}
th,td{white-space:normal;padding-right:10px}
td{overflow-wrap:anywhere}
@page{margin:14mm}
h2,h3{break-after:avoid}
tr,.row,.card,.legend{break-inside:avoid}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)css";
