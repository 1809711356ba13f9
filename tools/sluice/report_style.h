// The style of a report: light and dark, from a phone's width upwards.
#pragma once

#include <string_view>

namespace sluice::tool {

inline constexpr std::string_view report_style = R"css(
:root {
  --ground: #ffffff; --text: #1b1f24; --faint: #5b6570; --grid: #dfe3e8; --box: #f5f7f9; --link: #0b57b0;
  --c0: #0b66c3; --c1: #c2410c; --c2: #0f7b4f; --c3: #9333a8; --c4: #a16207; --c5: #0e7490; --c6: #be185d;
  --c7: #57534e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14181d; --text: #e4e8ec; --faint: #9aa5b1; --grid: #333b44; --box: #1d232a; --link: #7db8ff;
    --c0: #6cb0ff; --c1: #ff9a62; --c2: #54d19a; --c3: #d8a0ea; --c4: #e6bd4c; --c5: #5cd0e6; --c6: #ff8fbe;
    --c7: #c6bfb8;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; padding-top: 0.75rem; border-top: 1px solid var(--grid); }
h2, dd, figcaption, li { overflow-wrap: anywhere; }
a { color: var(--link); }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: 0.25rem 1rem; margin: 1rem 0; }
dt { color: var(--faint); max-width: 9rem; }
dd { margin: 0; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
th { white-space: nowrap; color: var(--faint); font-weight: 600; }
td { max-width: 28rem; overflow-wrap: break-word; }
.long { min-width: 20rem; }
.n { text-align: right; white-space: nowrap; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem;
           align-items: start; }
figure { margin: 0; padding: 0.75rem; background: var(--box); border-radius: 0.5rem; min-width: 0; }
figcaption { font-weight: 600; margin-bottom: 0.25rem; }
figure p { margin: 0.5rem 0 0; font-size: 0.8125rem; color: var(--faint); }
svg.plot { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
svg line, svg polyline { fill: none; stroke: currentColor; stroke-width: 2; }
svg circle, svg rect { fill: currentColor; }
svg line.grid { stroke: var(--grid); stroke-width: 1; }
svg line.axis { stroke: var(--faint); stroke-width: 1; }
svg line.stem { stroke: var(--grid); }
svg line.sought { stroke: var(--c1); stroke-dasharray: 5 4; }
.c0, .bar { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); }
.c4 { color: var(--c4); } .c5 { color: var(--c5); } .c6 { color: var(--c6); } .c7 { color: var(--c7); }
.aside, .other { color: var(--faint); }
.aside line, .aside polyline { stroke-dasharray: 2 3; }
.d1 line, .d1 polyline { stroke-dasharray: 8 4; }
.d2 line, .d2 polyline { stroke-dasharray: 8 3 2 3; }
.legend { list-style: none; margin: 0.5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; }
.legend li { font-size: 0.875rem; display: flex; align-items: center; gap: 0.4rem; }
svg.key { width: 28px; height: 10px; flex: none; }
footer { color: var(--faint); font-size: 0.875rem; margin-top: 2rem; }
)css";

}  // namespace sluice::tool
