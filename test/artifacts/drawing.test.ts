import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { drawDot } from "../../src/artifacts/plans/drawing/dot.ts";
import { layOut } from "../../src/artifacts/plans/drawing/layout.ts";
import { withoutImplied } from "../../src/artifacts/plans/drawing/implied-edges.ts";
import { drawMermaid } from "../../src/artifacts/plans/drawing/mermaid.ts";
import { BOX_HEIGHT } from "../../src/artifacts/plans/drawing/sizes.ts";
import { drawPicture, drawSvg } from "../../src/artifacts/plans/drawing/svg.ts";
import { phaseGraph } from "../../src/artifacts/plans/phase-graph.ts";
import type { PhasePlan } from "../../src/artifacts/plans/phase-plan.ts";
import { acyclic } from "../helpers/artifacts/graphs.ts";
import { RUN_ID } from "../helpers/artifacts/plans.ts";
import { xmlFault } from "../helpers/artifacts/well-formed.ts";
import { anyText } from "../helpers/any-text.ts";

const EVIL = '</text><script>alert(1)</script> "]; end --> x\u001b[2J\ud800\ufffe& `**b**`';

function planOf(
  phases: readonly { key: string; title?: string; role?: string; depends_on?: string[] }[],
): PhasePlan {
  return {
    runId: RUN_ID,
    phaseKey: "planning",
    phases: phases.map((phase) => ({
      title: phase.key.toUpperCase(),
      role: "assistant",
      instructions: "0123456789",
      ...phase,
    })),
  };
}

const three = planOf([
  { key: "design" },
  { key: "build", depends_on: ["design"] },
  { key: "end", depends_on: ["build", "design", "build"] },
]);
const evil = planOf([{ key: "a", title: EVIL, role: EVIL }]);

describe("the picture", () => {
  it("[PLAN-13] [PLAN-71] is well-formed, describes in words what it shows and loads nothing", () => {
    const svg = drawSvg({ ...three, estimated_duration_hours: 1.5 });
    expect(xmlFault(svg)).toBeNull();
    expect(svg).toContain('role="img" aria-labelledby="plan-title plan-desc"');
    expect(svg).toContain("Phase plan: 3 phases in 3 waves, 1.5 hours</title>");
    expect(svg).toContain(
      "Wave 1: design. Wave 2: build. Wave 3: end. Longest chain: design, then build, then end.</desc>",
    );
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg.match(/<rect class="box/g)).toHaveLength(3);
    // from design to end is implied
    expect(svg.match(/<path class="edge/g)).toHaveLength(2);
    expect(svg).not.toMatch(/<script|<image|<foreignObject|href|url\((?!#)|@import/);
  });

  it("[PLAN-13] [PLAN-72] lets nothing in a plan become markup", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 40 }), (text) => {
        expect(xmlFault(drawSvg(planOf([{ key: "a", title: text, role: text }])))).toBeNull();
      }),
    );
    const svg = drawSvg(evil);
    expect(xmlFault(svg)).toBeNull();
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;");
  });

  it("[PLANRUN-122] has the phases of a wave in the order of the plan", () => {
    const first = ["zebra", "apple", "mango"].map((key) => ({ key, depends_on: ["begin"] }));
    const plan = planOf([{ key: "begin" }, ...first, { key: "alone" }]);
    const heights = (drawn: PhasePlan) => {
      const { boxes } = drawPicture(drawn);
      return first.map(({ key }) => boxes.find((box) => box.key === key)?.y ?? 0);
    };
    expect(heights(plan)).toEqual(heights(plan).toSorted((one, other) => one - other));
    expect(drawSvg(plan)).toContain("Wave 2: zebra, apple, mango.");
    expect(drawDot(plan)).toContain('{ rank=same; "zebra"; "apple"; "mango"; }');
  });

  it("[PLAN-13] draws the longest chain over lines that share its way", () => {
    const chain = [{ key: "begin" }, { key: "a", depends_on: ["begin"] }];
    const svg = drawSvg(
      planOf([...chain, { key: "b", depends_on: ["a"] }, { key: "z", depends_on: ["begin"] }]),
    );
    expect(svg.lastIndexOf('<path class="edge"')).toBeLessThan(
      svg.indexOf('<path class="edge strong"'),
    );
  });

  it("[PLAN-13] can be drawn of no phase and of very many", () => {
    expect(xmlFault(drawSvg(planOf([])))).toBeNull();
    const many = Array.from({ length: 2000 }, (_, index) => ({
      key: `p${index}`,
      depends_on: index === 0 ? [] : ["p0", `p${Math.floor(index / 2)}`, `p${index - 1}`],
    }));
    expect(drawSvg(planOf(many)).match(/<rect class="box/g)).toHaveLength(2000);
  });
});

function graphOf(edges: readonly (readonly number[])[]) {
  const phases = edges.map((to, node) => ({ key: `p${node}`, depends_on: to.map((n) => `p${n}`) }));
  return phaseGraph({ phases });
}

describe("the layout", () => {
  it("[PLAN-13] draws waves from left to right, no box over another, lines from box to box", () => {
    fc.assert(
      fc.property(acyclic, ({ edges }) => {
        const graph = graphOf(edges);
        const { boxes, lines, width, height } = layOut(graph, (key) => 100 + 10 * key.length);
        const box = new Map(boxes.map((each) => [each.key, each]));
        for (const [index, a] of boxes.entries()) {
          expect(Math.min(a.x, a.y)).toBeGreaterThanOrEqual(-0.001);
          expect(a.x + a.width).toBeLessThanOrEqual(width + 0.001);
          expect(a.y + BOX_HEIGHT).toBeLessThanOrEqual(height + 0.001);
          for (const b of boxes.slice(index + 1)) {
            expect(a.x !== b.x || Math.abs(a.y - b.y) >= BOX_HEIGHT).toBe(true);
          }
        }
        for (const { from, to, points, turn, arrival } of lines) {
          const [source, target] = [box.get(from)!, box.get(to)!];
          expect(points[0]?.x).toBeCloseTo(source.x + source.width, 6);
          expect(points[0]?.y).toBeCloseTo(source.y + BOX_HEIGHT / 2, 6);
          const end = turn.length === 0 ? points.at(-1) : arrival.at(-1);
          expect(end?.x).toBeCloseTo(target.x, 6);
          expect(end?.y).toBeCloseTo(target.y + BOX_HEIGHT / 2, 6);
          for (const part of [points, arrival]) {
            for (const [at, point] of part.slice(1).entries()) {
              expect(point.x).toBeGreaterThanOrEqual(part[at]!.x);
            }
          }
          for (const { x, y } of turn) {
            expect([x >= 0, x <= width, y >= 0, y <= height]).toEqual([true, true, true, true]);
          }
        }
      }),
    );
  });

  it("[PLAN-29] leaves out exactly the edges that others imply", () => {
    fc.assert(
      fc.property(acyclic, ({ edges }) => {
        const graph = graphOf(edges);
        const kept = withoutImplied(graph);
        const reach = (among: typeof kept) => {
          const found = new Map<string, Set<string>>();
          for (const key of graph.waves.flat()) {
            const above = among.filter(({ to }) => to === key).map(({ from }) => from);
            found.set(key, new Set(above.flatMap((from) => [from, ...(found.get(from) ?? [])])));
          }
          return found;
        };
        expect(reach(kept)).toEqual(reach(graph.edges));
        for (const edge of kept) {
          expect(reach(kept.filter((other) => other !== edge))).not.toEqual(reach(kept));
        }
      }),
    );
  });

  it("[PLAN-30] wraps long chains into rows: no picture is wider than three times its height", () => {
    for (const length of [1, 2, 4, 7, 14, 40, 200]) {
      const chain = Array.from({ length }, (_, at) => ({
        key: `step-${at}`,
        title: "A title that is long enough for two lines of the box",
        depends_on: at === 0 ? [] : [`step-${at - 1}`],
      }));
      const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(drawSvg(planOf(chain)))!;
      expect(Number(width) / Number(height)).toBeLessThanOrEqual(3);
    }
    const branches = Array.from({ length: 60 }, (_, at) => (at < 3 ? [] : [at - 1, at - 3]));
    const { width, height } = layOut(graphOf(branches), () => 200);
    expect(width / height).toBeLessThanOrEqual(3);
  });

  it.each<[string, number[]]>([
    ["one, 24 and one", [1, 24, 1]],
    ["two waves of 2,500", [2500, 2500]],
    ["two waves of 30, each with each", [30, 30]],
    ["one, 300 and one", [1, 300, 1]],
  ])("[PLAN-52] wraps tall waves, of %s phases, to a picture at most 3:1", (_, waves) => {
    let first = 0;
    const phases = waves.flatMap((count, wave) => {
      const before = waves[wave - 1] ?? 0;
      const start = first - before;
      first += count;
      return Array.from({ length: count }, (__, at) => {
        const every = Array.from({ length: before }, (___, index) => `p${start + index}`);
        const depends_on = before > 1000 ? [`p${start + at}`] : every;
        return { key: `p${first - count + at}`, depends_on };
      });
    });
    const svg = drawSvg(planOf(phases));
    const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!;
    expect(Number(height) / Number(width)).toBeLessThanOrEqual(3);
    expect(Number(width) / Number(height)).toBeLessThanOrEqual(3);
    expect(svg.match(/<text class="wave"/g)?.length).toBeGreaterThanOrEqual(waves.length);
  });

  it("[PLAN-31] puts phases without any edge in a grid below the others", () => {
    const edges = [[], [0], ...Array.from({ length: 20 }, () => [])];
    const { boxes, lines } = layOut(graphOf(edges), () => 150);
    expect(lines).toHaveLength(1);
    const [linked, alone] = [boxes.slice(0, 2), boxes.slice(2)];
    expect(alone).toHaveLength(20);
    const lowest = Math.max(...linked.map(({ y }) => y + BOX_HEIGHT));
    expect(Math.min(...alone.map(({ y }) => y))).toBeGreaterThan(lowest);
    expect(new Set(alone.map(({ x }) => x)).size).toBeGreaterThan(2);
    expect(new Set(alone.map(({ y }) => y)).size).toBeGreaterThan(2);
  });

  it("[PLAN-32] writes a long title on two lines", () => {
    const title = "Move the sessions of the old store to the new one";
    const svg = drawSvg(planOf([{ key: "a", title }]));
    const lines = Array.from(
      svg.matchAll(/<text class="title"[^>]*>([^<]*)</g),
      ([, line]) => line,
    );
    expect(lines).toHaveLength(2);
    expect(lines.join(" ")).toBe(title);
  });

  it("[PLAN-32] cuts a title that is too long for two lines only at its end", () => {
    const title = "Verify Rust project structure and dependencies are in place";
    const svg = drawSvg(planOf([{ key: "a", title }]));
    const [first = "", second = "", ...more] = Array.from(
      svg.matchAll(/<text class="title"[^>]*>([^<]*)</g),
      ([, line]) => line ?? "",
    );
    expect(more).toEqual([]);
    expect(second).toMatch(/.…$/);
    expect(title.startsWith(`${first} ${second.slice(0, -1)}`)).toBe(true);
  });

  it("[PLAN-13] writes a role in full beside its key if the widest box has space for both", () => {
    const roles = ["assistant", "reviewer", "Writer of Manuals"];
    const svg = drawSvg(
      planOf(roles.map((role, n) => ({ key: `describe-discount${n}`, title: "T", role }))),
    );
    const shown = [...svg.matchAll(/class="role">([^<]*)</g)].map(([, role]) => role);
    expect(shown).toEqual(["assistant", "reviewer", expect.stringMatching(/^Writer .*…$/)]);
  });
});

describe("the text forms", () => {
  it("[PLAN-13] Mermaid gets generated names, so that no key is one of its words", () => {
    expect(drawMermaid(three).split("\n")).toEqual([
      "flowchart LR",
      '  p1["<b>DESIGN</b><br>design<br>assistant"]',
      '  p2["<b>BUILD</b><br>build<br>assistant"]',
      '  p3["<b>END</b><br>end<br>assistant"]',
      "  p2 --> p3",
      "  p1 --> p2",
      "  p1 --> p3",
    ]);
    const [, node = ""] = drawMermaid(evil).split("\n");
    expect(node).toMatch(/^ {2}p1\["<b>[^"<>`*[\]&]*<\/b><br>a<br>[^"<>`*[\]&]*"\]$/);
  });

  it("[PLAN-13] Graphviz gets quoted names and a rank for each wave", () => {
    expect(drawDot(three).split("\n").slice(3)).toEqual([
      '  "design" [label="DESIGN\\ndesign\\nassistant"];',
      '  "build" [label="BUILD\\nbuild\\nassistant"];',
      '  "end" [label="END\\nend\\nassistant"];',
      '  { rank=same; "design"; }',
      '  { rank=same; "build"; }',
      '  { rank=same; "end"; }',
      '  "build" -> "end";',
      '  "design" -> "build";',
      '  "design" -> "end";',
      "}",
    ]);
    const label = drawDot(evil).split("\n")[3] ?? "";
    expect(label.replaceAll(/\\./g, "")).toMatch(/^ {2}"a" \[label="[^"]*"\];$/);
  });
});
