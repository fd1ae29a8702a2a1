// Our rules for the linter: see .oxlintrc.json. Plain JavaScript, because its plugins have to be.
const OUTPUTS = new Set(["stdout", "stderr"]);
/** Usual names of a stream to the terminal. */
const STREAMS = /^(?:stdout|stderr|tty|terminal|screen|console)$/i;
const PRINTERS = new Set(["printLine", "noticeLine", "print"]);

/** The last name of `a`, `a.b` and `a["b"]`; null for anything else. */
function lastName(node) {
  if (node.type === "Identifier") {
    return node.name;
  }
  if (node.type !== "MemberExpression") {
    return null;
  }
  return node.computed ? (node.property.value ?? null) : node.property.name;
}

const oneOutput = {
  create(context) {
    const report = (node) =>
      context.report({
        node,
        message:
          "Only src/cli/process/output.ts may write to the terminal: it removes control characters.",
      });
    return {
      MemberExpression(node) {
        if (lastName(node.object) === "process" && OUTPUTS.has(lastName(node))) {
          report(node);
        }
      },
      VariableDeclarator(node) {
        if (node.id.type === "ObjectPattern" && node.init !== null) {
          const names = node.id.properties.map(({ key }) => key?.name ?? key?.value);
          if (lastName(node.init) === "process" && names.some((name) => OUTPUTS.has(name))) {
            report(node);
          }
        }
      },
      ImportDeclaration(node) {
        const source = node.source.value.replace(/^node:/, "");
        const names = node.specifiers.map(({ imported }) => imported?.name);
        // a default or namespace import has every name
        const streams = names.some((name) => name === undefined || OUTPUTS.has(name));
        if (source === "tty" || (source === "process" && streams)) {
          report(node);
        }
      },
      CallExpression(node) {
        const { callee, arguments: given } = node;
        const method = lastName(callee);
        if (callee.type === "MemberExpression") {
          if (method?.startsWith("write") === true && STREAMS.test(lastName(callee.object) ?? "")) {
            report(node);
          }
        }
        if (/^writev?(?:Sync)?$/.test(method ?? "") && isDescriptor(given[0])) {
          report(node);
        }
      },
    };
  },
};

function isDescriptor(node) {
  return node?.type === "Literal" && (node.value === 1 || node.value === 2);
}

const jsonAsText = {
  create(context) {
    return {
      CallExpression(node) {
        const prints = PRINTERS.has(lastName(node.callee));
        if (prints && node.arguments.some((given) => isStringify(given))) {
          context.report({
            node,
            message:
              "Print JSON with printJson or noticeJson: they escape it in another way than text.",
          });
        }
      },
    };
  },
};

function isStringify(node) {
  return (
    node.type === "CallExpression" &&
    lastName(node.callee) === "stringify" &&
    lastName(node.callee.object ?? node.callee) === "JSON"
  );
}

/** Functions that the bundler takes for free of effects, although they throw. */
const PURE = new Set([
  "decodeURI",
  "decodeURIComponent",
  "encodeURI",
  "encodeURIComponent",
  "String",
]);

const usedResult = {
  create(context) {
    return {
      ExpressionStatement({ expression }) {
        if (expression.type === "CallExpression" && PURE.has(lastName(expression.callee))) {
          context.report({
            node: expression,
            message: "Use the result: without that, the bundler leaves out the call.",
          });
        }
      },
    };
  },
};

export default {
  meta: { name: "reprise" },
  rules: { "one-output": oneOutput, "json-as-text": jsonAsText, "used-result": usedResult },
};
