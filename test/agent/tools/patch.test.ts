import { describe, expect, it } from "vitest";

import { type Hunk, parsePatch } from "../../../src/agent/tools/patch/parse-patch.ts";
import { patchedText } from "../../../src/agent/tools/patch/patched-text.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { seededRandom } from "../../helpers/random.ts";

const patch = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/** The hunks of a patch of one file. */
function hunksOf(...lines: readonly string[]): readonly Hunk[] {
  const [file] = parsePatch(patch("*** Update File: a.txt", ...lines));
  return file?.kind === "update" ? file.hunks : [];
}

function patched(before: string, ...lines: readonly string[]): string {
  const edited = patchedText(before, hunksOf(...lines));
  return edited.refused ?? edited.after;
}

describe("[PERMISSION-81] a patch", () => {
  it("is read file by file", () => {
    expect(
      parsePatch(
        `\n${patch(
          "*** Add File: src/new file.ts",
          "+one",
          "+",
          "*** Delete File: old.ts",
          "*** Update File: a.txt",
          "*** Move to: b.txt",
          "@@ class A",
          "@@ method()",
          " stays",
          "",
          "-goes",
          "+comes",
          "*** End of File",
        )}\r\n`,
      ),
    ).toEqual([
      { kind: "add", path: "src/new file.ts", content: "one\n\n" },
      { kind: "delete", path: "old.ts" },
      {
        kind: "update",
        path: "a.txt",
        to: "b.txt",
        hunks: [
          {
            headers: ["class A", "method()"],
            lines: [
              { mark: " ", text: "stays" },
              { mark: " ", text: "" },
              { mark: "-", text: "goes" },
              { mark: "+", text: "comes" },
            ],
            atEnd: true,
          },
        ],
      },
    ]);
  });

  it.each([
    ["", "begins with the line"],
    ["*** Begin Patch", "begins with the line"],
    ["*** Update File: a\n-b", "begins with the line"],
    [patch(), "line 2 of the patch: name a file"],
    [patch("*** Add File:"), "line 2 of the patch: write"],
    [patch("*** Update File:   "), "line 2 of the patch: write"],
    [patch("diff --git a/a b/a"), "line 2 of the patch: write"],
    [patch("*** Update File: a"), "line 3 of the patch: write what changes"],
    [patch("*** Update File: a", "*** Move to: "), "line 4 of the patch: name the new path"],
    [patch("*** Update File: a", "@@", " b"), "line 5 of the patch: this part"],
    [patch("*** Update File: a", "@@ -1,2 +1,2 @@", "-b"), "line 3 of the patch: write a line"],
    [patch("*** Update File: a", "-b", "c"), "line 4 of the patch: write"],
    [patch("*** Add File: a", "+b", "c"), "line 4 of the patch: write"],
    [patch("*** Delete File: a", "-b"), "line 3 of the patch: write"],
    [patch(...Array.from({ length: 21 }, (_, n) => `*** Delete File: ${n}`)), "at most 20 files"],
    [
      patch("*** Update File: a", ...Array.from({ length: 501 }, () => ["@@ x", "-b"]).flat()),
      "at most 500 parts",
    ],
  ])("of another form is refused with the place: %j", (text, sentence) => {
    expect(() => parsePatch(text)).toThrow(sentence);
    expect(() => parsePatch(text)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});

describe("[PERMISSION-82] a patched text", () => {
  it("has the new lines in the place of the old ones", () => {
    const before = "a\nb\nc\nd\ne\n";
    expect(patched(before, " b", "-c", "+C", "+C2", " d")).toBe("a\nb\nC\nC2\nd\ne\n");
    expect(patched(before, "-a", "@@", "-e", "+E")).toBe("b\nc\nd\nE\n");
    expect(patched(before, "@@ c", "+after c")).toBe("a\nb\nc\nafter c\nd\ne\n");
    expect(patched(before, "+last", "*** End of File")).toBe(`${before}last\n`);
    expect(patched("", "+first")).toBe("first\n");
  });

  it("keeps line ends, the byte order mark and a missing end of the last line", () => {
    expect(patched("a\r\nb\r\n", "-a", "+A", "+A2")).toBe("A\r\nA2\r\nb\r\n");
    expect(patched("a\r\nb\nc\n", " a", "-b", "+B")).toBe("a\r\nB\nc\n");
    expect(patched("\uFEFFa\nb\n", "-a", "+A")).toBe("\uFEFFA\nb\n");
    expect(patched("a\nb", "-b", "+B")).toBe("a\nB");
    expect(patched("a\nb", " b", "+c")).toBe("a\nb\nc");
    expect(patched("a\r\nb", " b", "+c")).toBe("a\r\nb\r\nc");
    expect(patched("a\nb", "-b")).toBe("a");
    expect(patched("a\n", "-a")).toBe("");
  });

  it("is refused unless each part is found at one place", () => {
    expect(patched("a\n", "-b")).toMatch(/^part 1 of the patch: its lines are not in the file/);
    expect(patched("a \n", "-a")).toMatch(/not in the file/);
    expect(patched("a\nb\na\n", "-a")).toMatch(/at several places/);
    expect(patched("a\nb\na\n", "@@ b", "-a", "+A")).toBe("a\nb\nA\n");
    expect(patched("a\nb\na\n", "-a", "+A", "*** End of File")).toBe("a\nb\nA\n");
    expect(patched("a\nb\n", "-b", "@@", "-a")).toMatch(/^part 2 of the patch: its lines are not/);
    expect(patched("a\nb\n", "@@ c", "-a")).toMatch(/the line after @@ is not in the file/);
    expect(patched("a\nb\n", "-a", "*** End of File")).toMatch(/not at the end of the file/);
    expect(patched("a\n", "+b")).toMatch(/only adds lines/);
    expect(patched("a\n", "-a", "+a")).toBe("the patch changes nothing");
  });

  it("is refused if finding its lines would take long", () => {
    const before = "a\n".repeat(500_000);
    const lines = Array.from({ length: 2000 }, () => " a");
    expect(patched(before, ...lines, "-b")).toMatch(/takes too long/);
  });

  it("is what random changes of random files make, or nothing is", () => {
    const random = seededRandom("patches");
    const below = (max: number) => Math.floor(random() * max);
    for (let run = 0; run < 300; run += 1) {
      const end = random() < 0.5 ? "\n" : "\r\n";
      const before = Array.from({ length: 1 + below(30) }, (_, n) => `line ${below(4)} ${n}`);
      const from = below(before.length);
      const old = before.slice(from, from + 1 + below(3));
      const fresh = Array.from({ length: below(4) }, (_, n) => `new ${n}`);
      const last = random() < 0.5 ? end : "";
      const text = (lines: readonly string[]) => (lines.length === 0 ? "" : lines.join(end) + last);
      const context = before.slice(Math.max(0, from - below(3)), from);
      const given = patched(
        text(before),
        ...context.map((line) => ` ${line}`),
        ...old.map((line) => `-${line}`),
        ...fresh.map((line) => `+${line}`),
      );
      // one line alone with no end has no line end to keep
      const isKnown = before.length > 1 || last !== "" || end === "\n";
      expect(isKnown ? given : "").toBe(
        isKnown ? text(before.toSpliced(from, old.length, ...fresh)) : "",
      );
    }
  });

  it("of any text is a text or a refusal", () => {
    const random = seededRandom("no patches");
    const pieces =
      "*** Begin Patch|*** End Patch|*** Update File: a|*** Add File: b|*** Move to: c|@@|@@ x|+|-|-x| x||x|*** End of File|\r|\0".split(
        "|",
      );
    for (let run = 0; run < 1000; run += 1) {
      const lines = Array.from(
        { length: Math.floor(random() * 12) },
        () => pieces[Math.floor(random() * pieces.length)] ?? "",
      );
      try {
        for (const file of parsePatch(patch(...lines))) {
          if (file.kind === "update") {
            patchedText("x\ny\nx\n", file.hunks);
          }
        }
      } catch (error) {
        expect(isRepriseError(error, "invalid_request"), lines.join("\n")).toBe(true);
      }
    }
  });
});
