import { readFileSync, writeFileSync } from "node:fs";

/** As much of JSON Schema as the schema of a phase plan uses. */
interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type: "object" | "array" | "string" | "number";
  readonly additionalProperties?: false;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

export const SCHEMA_FILE = new URL("../../../schemas/dev/phase-plan@1.json", import.meta.url);
export const TYPES_FILE = new URL("../../../src/artifacts/plans/phase-plan.ts", import.meta.url);

/** Makes the TypeScript types of a schema of closed objects. */
export function typesOf(schema: Schema & { readonly $id: string }): string {
  const interfaces: string[] = [];
  describe("PhasePlan", { ...schema, description: `${schema.title} (\`${schema.$id}\`).` });
  return `// Made from schemas/${schema.$id}.json by \`node test/helpers/artifacts/plan-types.ts\`.\n${interfaces.join("")}`;

  /** Adds an object's interface in front of those of the objects in it. */
  function describe(name: string, { properties = {}, required = [], description }: Schema): void {
    const at = interfaces.push("") - 1;
    const fields = Object.entries(properties).map(([property, inner]) => {
      const comment = inner.description === undefined ? "" : `  /** ${inner.description} */\n`;
      const optional = required.includes(property) ? "" : "?";
      return `${comment}  readonly ${property}${optional}: ${typeOf(property, inner)};\n`;
    });
    const comment = description === undefined ? "" : `/** ${description} */\n`;
    interfaces[at] = `\n${comment}export interface ${name} {\n${fields.join("")}}\n`;
  }

  function typeOf(property: string, { type, items, ...schema }: Schema): string {
    if (type === "array") {
      return `readonly ${typeOf(property.replace(/s$/, ""), items!)}[]`;
    }
    if (type !== "object") {
      return type;
    }
    if (schema.additionalProperties !== false) {
      throw new TypeError("only closed objects have types");
    }
    const name = property.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
    describe(name, { type, ...schema });
    return name;
  }
}

if (import.meta.main) {
  writeFileSync(TYPES_FILE, typesOf(JSON.parse(readFileSync(SCHEMA_FILE, "utf8"))));
}
