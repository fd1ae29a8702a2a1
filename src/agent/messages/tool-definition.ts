import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

/** Definition of a tool, as JSON in OpenAI's form. */
export interface ToolDefinition {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: unknown;
  };
}

const DEFINITION = Symbol("definition");

/** Gives a tool a definition for models other than that of its schema. */
export function defined<Tool extends object>(tool: Tool, definition: ToolDefinition): Tool {
  return Object.assign(tool, { [DEFINITION]: definition });
}

/** Returns the definition without what each tool would repeat: its dialect of schemas, and that it takes no other fields. */
export function definitionOf(tool: StructuredToolInterface): ToolDefinition {
  const given: unknown = Reflect.get(tool, DEFINITION);
  if (given !== undefined) {
    return given as ToolDefinition;
  }
  const { function: called } = convertToOpenAITool(tool);
  const { $schema: _, additionalProperties: __, ...parameters } = called.parameters as Schema;
  return { type: "function", function: { ...called, parameters } };
}

type Schema = Readonly<Record<string, unknown>>;
