/** Style of a transcript: light and dark, from the width of a phone on. */
export const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1d2129,#e4e6ea);--soft:light-dark(#5c6470,#a2a9b5);--page:light-dark(#fff,#15171b);--raised:light-dark(#f4f5f7,#1e2127);--line:light-dark(#dde0e5,#353a43);--mark:light-dark(#2a5db0,#8ab4f8);--add:light-dark(#dff5e3,#12331c);--del:light-dark(#fde4e4,#421a1c)}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem;overflow-wrap:anywhere}
header{border-bottom:1px solid var(--line);padding-bottom:1rem;margin-bottom:1rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0;font-size:.875rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
article{margin:0 0 1.25rem}
article.user{background:var(--raised);border-radius:.5rem;padding:.6rem .9rem}
article.tool{margin-top:-.75rem}
article.tool h2{display:none}
h2{display:flex;flex-wrap:wrap;gap:0 .5rem;align-items:baseline;font-size:.8125rem;font-weight:400;color:var(--soft);margin:0 0 .25rem}
h2 b{color:var(--ink);font-weight:600}
h2 time{margin-left:auto}
em{font-style:normal;border:1px solid var(--line);border-radius:1rem;padding:0 .5rem}
a{color:var(--mark);text-decoration:none}
p{white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 .6rem}
p:last-child{margin-bottom:0}
pre{background:var(--raised);border:1px solid var(--line);border-radius:.375rem;padding:.6rem .75rem;margin:.4rem 0;overflow:auto;max-height:30rem;font:.8125rem/1.5 ui-monospace,monospace;tab-size:4}
article.user>pre{background:var(--page)}
code{font:.875em ui-monospace,monospace;overflow-wrap:anywhere}
details{margin:.3rem 0}
summary{cursor:pointer;color:var(--soft);font-size:.875rem;overflow-wrap:anywhere}
summary code{color:var(--ink)}
summary i{font-style:normal}
.change{font-size:.875rem;margin:.3rem 0 .3rem 1rem}
ins,del,samp{display:inline-block;min-width:100%;text-decoration:none;font:inherit}
ins{background:var(--add)}
del{background:var(--del)}
samp{color:var(--soft)}
.agent{border-left:3px solid var(--line);padding-left:.75rem;margin:.75rem 0 1.25rem}
.agent>summary b{color:var(--ink)}
.agent>div{padding-top:.5rem}
.agent dl{margin-bottom:1rem}
@media(max-width:30rem){main{padding:1rem .75rem 3rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.3rem}h2 time{margin-left:0}.change{margin-left:0}}
@media print{pre{max-height:none;white-space:pre-wrap}}
`;
