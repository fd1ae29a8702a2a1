import { asText, type Body, repeated, type Rule, someText, unknownFields } from "../rules.ts";
import { takesGptSampling } from "./models.ts";
import {
  decrypt,
  type Item,
  itemsOf,
  type ResponsesMemory,
  responsesBody,
} from "./responses-request.ts";

const FIELDS = [
  "access_programs background context_management conversation image include input instructions",
  "max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls",
  "previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention",
  "reasoning safety_identifier service_tier store stream stream_options temperature text",
  "tool_choice tools top_logprobs top_p truncation user",
]
  .join(" ")
  .split(" ");

/** Fields of items; of other types nothing is known. */
const ITEM_FIELDS: Readonly<Record<string, string>> = {
  message: "type role content id status phase",
  reasoning: "type id summary content encrypted_content status",
  function_call: "type id call_id name arguments status namespace caller async",
  function_call_output: "type id call_id output status name namespace caller",
};

const ID_BEGINS: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
};

const LONGEST_ID = 64;

/** Rules of OpenAI's Responses API. */
export const RESPONSES_RULES: readonly Rule<ResponsesMemory>[] = [
  {
    id: "surrogate",
    source: "github.com/JohnnyZ93/oai-compatible-copilot/issues/206, 2026-04-26",
    refuses: (body) =>
      someText(body, (text) => !text.isWellFormed())
        ? "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)"
        : null,
  },
  {
    id: "parameter_unknown",
    source: "developers.openai.com/api/reference/resources/responses, 2026-11-23",
    refuses: (body, _, memory) => {
      const items = itemsOf(responsesBody(body), memory);
      const [param] = [
        ...unknownFields(body, FIELDS),
        ...items.flatMap((item, at) => {
          const known = ITEM_FIELDS[item.type ?? "message"];
          return known === undefined
            ? []
            : unknownFields(item, known.split(" ")).map((name) => `input[${at}].${name}`);
        }),
      ];
      return param === undefined
        ? null
        : { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" };
    },
  },
  {
    id: "sampling",
    source: "github.com/can1357/oh-my-pi/issues/5606, 2026-07-15",
    refuses: ({ model, temperature = 1 }) =>
      temperature === 1 || takesGptSampling(model)
        ? null
        : {
            message: "Unsupported parameter: 'temperature' is not supported with this model.",
            param: "temperature",
          },
  },
  {
    id: "previous_unknown",
    source: "developers.openai.com/api/docs/guides/conversation-state, 2026-11-26",
    refuses: (body, _, { responses }) => {
      const id = responsesBody(body).previous_response_id ?? null;
      return id === null || responses.has(id)
        ? null
        : {
            message: `Previous response with id '${id}' not found.`,
            param: "previous_response_id",
            code: "previous_response_not_found",
          };
    },
  },
  {
    id: "item_id_form",
    source: "github.com/jin-bo/agentao/pull/321, 2026-09-19",
    refuses: (body, _, memory) =>
      firstItem(body, memory, ({ type = "message", id }, at) => {
        const begin = ID_BEGINS[type];
        return begin === undefined || id === undefined || id.startsWith(begin)
          ? null
          : {
              message: `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${begin}'.`,
              param: `input[${at}].id`,
              code: "invalid_value",
            };
      }),
  },
  {
    id: "summary_missing",
    source: "github.com/newo-ether/Agora/issues/141, 2026-09-21",
    refuses: (body, _, memory) =>
      firstItem(body, memory, ({ type, summary }, at) =>
        type === "reasoning" && !Array.isArray(summary)
          ? {
              message: `Missing required parameter: 'input[${at}].summary'.`,
              param: `input[${at}].summary`,
              code: "missing_required_parameter",
            }
          : null,
      ),
  },
  {
    id: "reasoning_unencrypted",
    source: "github.com/can1357/oh-my-pi/issues/41, 2026-02-12",
    refuses: (body, _, memory) =>
      firstItem(body, memory, ({ type, id = "", encrypted_content }) =>
        type === "reasoning" && !encrypted_content && !memory.stored.has(id)
          ? {
              message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
              param: "input",
              status: 404,
            }
          : null,
      ),
  },
  {
    id: "reasoning_forged",
    source: "github.com/Wei-Shaw/sub2api/issues/2863, 2026-05-28",
    refuses: (body, _, memory) =>
      firstItem(body, memory, ({ type, encrypted_content: text, id }) =>
        type === "reasoning" && text && decrypt(text)?.id !== id
          ? {
              message: `The encrypted content ${asText(text).slice(0, 4)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
              code: "invalid_encrypted_content",
            }
          : null,
      ),
  },
  {
    id: "reasoning_alone",
    source: "github.com/continuedev/continue/issues/10428, 2026-02-11",
    refuses: (body, _, memory) => {
      const items = itemsOf(responsesBody(body), memory);
      return firstItem(body, memory, ({ type, id = "" }, at) =>
        type === "reasoning" && !isOfModel(items[at + 1])
          ? {
              message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
              param: "input",
            }
          : null,
      );
    },
  },
  {
    id: "reasoning_left_out",
    source: "github.com/openai/openai-node/issues/1791, 2026-03-24",
    refuses: (body, _, memory) => {
      const ids = itemsOf(responsesBody(body), memory).map(({ id }) => id);
      return firstItem(body, memory, ({ type = "message", id = "" }) => {
        const needed = memory.stored.get(id) ?? null;
        return needed === null || ids.includes(needed)
          ? null
          : {
              message: `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${needed}'.`,
              param: "input",
            };
      });
    },
  },
  {
    id: "call_id_long",
    source: "github.com/AnswerDotAI/fastllm/issues/45, 2026-06-08",
    refuses: (body, _, memory) =>
      firstItem(body, memory, ({ call_id = "" }, at) =>
        call_id.length > LONGEST_ID
          ? {
              message: `Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length ${LONGEST_ID}, but got a string with length ${call_id.length} instead.`,
              param: `input[${at}].call_id`,
              code: "string_above_max_length",
            }
          : null,
      ),
  },
  {
    id: "call_id_repeated",
    source: "developers.openai.com/api/docs/guides/function-calling, 2026-11-26",
    refuses: (body, _, memory) => {
      const of = (name: string): string[] =>
        itemsOf(responsesBody(body), memory).flatMap(({ type, call_id = "" }) =>
          type === name ? [call_id] : [],
        );
      const id = repeated(of("function_call")) ?? repeated(of("function_call_output"));
      return id === undefined ? null : { message: `Duplicate call_id '${id}'.`, param: "input" };
    },
  },
  {
    id: "call_unanswered",
    source: "github.com/lace-ai/gai/pull/49, 2026-11-26",
    refuses: (body, _, memory) => {
      const items = itemsOf(responsesBody(body), memory);
      return firstItem(body, memory, ({ type, call_id }) =>
        type === "function_call" &&
        !items.some((one) => one.type === "function_call_output" && one.call_id === call_id)
          ? { message: `No tool output found for function call ${call_id}.`, param: "input" }
          : null,
      );
    },
  },
  {
    id: "result_unknown",
    source: "github.com/microsoft/vscode/issues/320060, 2026-06-05",
    refuses: (body, _, memory) => {
      const items = itemsOf(responsesBody(body), memory);
      return firstItem(body, memory, ({ type, call_id }, at) =>
        type === "function_call_output" &&
        !items.slice(0, at).some((one) => one.type === "function_call" && one.call_id === call_id)
          ? {
              message: `No tool call found for function call output with call_id ${call_id}.`,
              param: "input",
            }
          : null,
      );
    },
  },
];

type Refuse = (item: Item, at: number) => ReturnType<Rule<ResponsesMemory>["refuses"]>;

function firstItem(body: Body, memory: ResponsesMemory, refuse: Refuse) {
  for (const [at, item] of itemsOf(responsesBody(body), memory).entries()) {
    const refusal = refuse(item, at);
    if (refusal !== null) {
      return refusal;
    }
  }
  return null;
}

/** True for an item that an answer may hold. */
function isOfModel(item: Item | undefined): boolean {
  return (
    item !== undefined &&
    item.type !== "function_call_output" &&
    (item["role"] === undefined || item["role"] === "assistant")
  );
}
