// A rule for the linter: see .oxlintrc.json. Plain JavaScript, because its plugins have to be.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Methods of a text that search it for another one, or cut it there. */
const SEARCHES = new Set([
  "endsWith",
  "includes",
  "indexOf",
  "lastIndexOf",
  "match",
  "matchAll",
  "replace",
  "replaceAll",
  "search",
  "split",
  "startsWith",
]);
/** Methods of a regular expression. */
const TESTS = new Set(["exec", "test"]);
/** Folders whose texts a front end receives. */
const SOURCES = [
  "agent",
  "artifacts",
  "compat",
  "core",
  "exchange",
  "langgraph",
  "rules",
  "store",
  "workspace",
];
/** Two words, or one before a colon and a blank: part of a sentence, not of a format. */
const SENTENCE = /[a-z]{2,}[,;:?]? [a-z]{2,}|[a-z]{2,}[:?] /i;

/** All quoted texts of those folders, as one text. */
const ours = SOURCES.flatMap((folder) => {
  const root = join(import.meta.dirname, "../../src", folder);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .flatMap((source) => source.match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []);
}).join("\n");

/** The parts of a pattern that match themselves. */
function fixedParts(pattern) {
  return pattern.split(/\\[a-z]|[\\^$.*+?()[\]{}|]/i);
}

function isOurs(part) {
  return part.length > 3 && SENTENCE.test(part) && ours.includes(part);
}

/** The texts that a node searches for. */
function wanted(node) {
  if (node?.type !== "Literal") {
    return [];
  }
  return node.regex === undefined
    ? [typeof node.value === "string" ? node.value : ""]
    : fixedParts(node.regex.pattern);
}

const noParsedSentence = {
  create(context) {
    const check = (node) => {
      if (wanted(node).some(isOurs)) {
        context.report({
          node,
          message: "A front end takes facts from fields: no code may depend on a sentence's words.",
        });
      }
    };
    return {
      CallExpression({ callee, arguments: given }) {
        if (callee.type !== "MemberExpression" || callee.computed) {
          return;
        }
        if (SEARCHES.has(callee.property.name)) {
          check(given[0]);
        } else if (TESTS.has(callee.property.name)) {
          check(callee.object);
        }
      },
      BinaryExpression({ operator, left, right }) {
        if (operator === "===" || operator === "!==") {
          check(left);
          check(right);
        }
      },
      SwitchCase({ test }) {
        check(test);
      },
      // a named one, too
      VariableDeclarator({ init }) {
        if (init?.type === "Literal" && init.regex !== undefined) {
          check(init);
        }
      },
    };
  },
};

export default {
  meta: { name: "facts" },
  rules: { "no-parsed-sentence": noParsedSentence },
};
