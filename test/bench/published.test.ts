import { existsSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { SaverPoint } from "../../bench/measurement.ts";
import { makeReport, type Report } from "../../bench/report.ts";
import { newestReport, PAGE, PICTURE, published, withFigures } from "../../bench/savers/publish.ts";
import { WORKLOADS } from "../../bench/savers/workloads.ts";
import { widthOf } from "../../src/artifacts/plans/drawing/text.ts";
import { xmlFault } from "../helpers/artifacts/well-formed.ts";

const FLAT = "RepriseSaver, PostgreSQL";
const HOSTILE = `<b>"A"|_&</b>`;

/** A saver that keeps every state whole, and stops, beside one that does not. */
const POINTS: readonly SaverPoint[] = Object.values(WORKLOADS).flatMap(({ title }) => [
  ...[1, 100, 300, 1000, 5000].map((exchanges) =>
    point(title, { saver: FLAT, exchanges, bytes: 2900 * exchanges, cpu_ms: 4.25 }),
  ),
  ...[1, 100, 300, 1000].map((exchanges) =>
    point(title, { saver: HOSTILE, exchanges, bytes: 2000 * exchanges ** 2, cpu_ms: exchanges }),
  ),
  point(title, { saver: HOSTILE, exchanges: 1460, bytes: 4.3e9, cpu_ms: null, stopped: true }),
]);

function point(
  workload: string,
  rest: Omit<SaverPoint, "workload" | "stopped"> & { readonly stopped?: true },
): SaverPoint {
  return { workload, stopped: false, ...rest };
}

const REPORT: Report = {
  ...makeReport({
    scale: 1,
    benches: [
      { bench: "plan", seconds: 1, measurements: [] },
      {
        bench: "savers",
        seconds: 1,
        measurements: POINTS.map((each) => ({
          what: each.saver,
          unit: "KB",
          ours: each.bytes,
          floor: null,
          reach: null,
          point: each,
        })),
      },
    ],
  }),
  at: "2026-11-22T12:00:00.000Z",
  machine: { processor: "A|B", cores: 2, memory_gib: 24, platform: "linux x64" },
};

const PAGE_TEXT = readFileSync(PAGE, "utf8");

describe("the page with the figures of the savers", () => {
  const { page } = published(PAGE_TEXT, REPORT);

  it("has a table for each kind of exchange, and says where a saver stopped", () => {
    const tables = [...page.matchAll(/^\*\*(.*):\*\* .*\n\n((?:\|.*\n)+)/gm)];
    const titles = Object.values(WORKLOADS).map(({ title }) => title);
    expect(tables.map(([, title = ""]) => title.toLowerCase())).toEqual(
      titles.map((title) => title.toLowerCase()),
    );
    for (const [, , table] of tables) {
      expect(table).toBe(
        [
          "| saver | 1 | 100 | 300 | 1,000 | 5,000 exchanges |",
          "|---|---|---|---|---|---|",
          `| ${FLAT} |${" 2.9 KB, 4.3 ms |".repeat(5)}`,
          String.raw`| \<b\>"A"\|\_\&\</b\> | 2.0 KB, 1.0 ms | 200.0 KB, 100.0 ms | 600.0 KB, 300.0 ms | 2.0 MB, 1000.0 ms | stopped at 1,460: 4.3 GB |`,
          "",
        ].join("\n"),
      );
    }
  });

  it("shows the picture, and names the day, Node.js and the machine", () => {
    expect(page).toContain("](pictures/savers.svg)\n");
    expect(page).toContain(
      `Measured on 2026-11-22 with Node.js ${process.versions.node} on 2 cores (A\\|B).`,
    );
  });

  it("is the same when the same figures are published again, and as before without them", () => {
    expect(published(page, REPORT).page).toBe(page);
    expect(withFigures(page, "")).toBe(withFigures(PAGE_TEXT, ""));
    expect(() => published("no markers", REPORT)).toThrow(/no place for the figures/);
  });
});

describe("the picture of the savers", () => {
  const { picture } = published(PAGE_TEXT, REPORT);
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(picture) ?? []).map(Number);

  it("is well-formed, whatever the savers are called, and the same each time", () => {
    expect(xmlFault(picture.trimEnd())).toBe(null);
    expect(picture).toContain("&lt;b&gt;&quot;A&quot;|_&amp;&lt;/b&gt;");
    expect(published(PAGE_TEXT, REPORT).picture).toBe(picture);
  });

  it("says how much each line of its grid is, and where a saver stopped", () => {
    const texts = [...picture.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, text]) => text);
    expect(texts).toEqual(
      expect.arrayContaining(["1 KB", "100 KB", "10 MB", "10 GB", "1", "100", "1,000", "5,000"]),
    );
    expect(texts).toContainEqual(expect.stringMatching(/&lt;\/b&gt; \(stopped at 1,460\)$/));
  });

  it("can be read on a screen of 640 pixels, and cuts no text off", () => {
    const sizes = [...picture.matchAll(/font-size[=:]"?([\d.]+)/g)].map(([, size]) => Number(size));
    expect(sizes).not.toEqual([]);
    for (const size of sizes) {
      expect((size * 640) / width).toBeGreaterThanOrEqual(12);
    }
    const [size = 0] = sizes;
    const texts = picture.matchAll(
      /<text x="([\d.]+)" y="([\d.]+)"( text-anchor="\w+")?>(.*?)<\/text>/g,
    );
    for (const [, x, y, anchor, text = ""] of texts) {
      const shown = text.replace(/<[^>]*>/g, "").replace(/&\w+;/g, "&");
      // a letter is about half as wide as it is high
      const half = (widthOf(shown) * size * 0.55) / 2;
      const middle = Number(x) + (anchor === undefined ? half : anchor.includes("end") ? -half : 0);
      expect(middle - half, shown).toBeGreaterThanOrEqual(0);
      expect(middle + half, shown).toBeLessThanOrEqual(width);
      expect(Number(y), shown).toBeLessThanOrEqual(height);
    }
  });
});

it("the page and its picture have the figures of the newest run that is kept", () => {
  const report = newestReport();
  if (report === null) {
    const isWithout = withFigures(PAGE_TEXT, "") === PAGE_TEXT && !existsSync(PICTURE);
    expect(isWithout, "Figures are published whose run is not kept in bench/results.").toBe(true);
    return;
  }
  const { page, picture } = published(PAGE_TEXT, report);
  const why = "Publish the newest kept run: node bench/savers/publish.ts";
  expect(PAGE_TEXT, why).toBe(page);
  expect(existsSync(PICTURE) && readFileSync(PICTURE, "utf8"), why).toBe(picture);
});
