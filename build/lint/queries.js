// A rule for the linter: see .oxlintrc.json. Plain JavaScript, because its plugins have to be.

/** Methods that begin a query. */
const BEGINNINGS = new Set(["selectFrom", "insertInto", "updateTable", "deleteFrom"]);

const onlyInStore = {
  create(context) {
    const report = (node) =>
      context.report({
        node,
        message: "Queries belong to operations in src/store: call one of them here.",
      });
    return {
      MemberExpression({ object, property, computed }) {
        if (computed) {
          return;
        }
        const isDatabase =
          property.name === "db" && object.type === "Identifier" && object.name === "tx";
        if (isDatabase || BEGINNINGS.has(property.name)) {
          report(property);
        }
      },
    };
  },
};

export default {
  meta: { name: "queries" },
  rules: { "only-in-store": onlyInStore },
};
