import { type Static, type TProperties, type TSchema, Type } from "typebox";

import { CACHE_LIVES, EFFORTS, MAX_FALLBACKS, WHEN_LIMITED } from "../../core/model-settings.ts";
import { PERMISSION_MODES } from "../../core/permissions.ts";
import { SERVER_NAME } from "../../core/tools.ts";
import { MODEL_NAME, PROVIDER_NAME } from "../models/name.ts";
import { HOOK_TIMEOUT } from "../hooks/hook.ts";
import { APIS } from "../models/providers.ts";
import { NOTIFICATIONS, SEARCH_SETTINGS, THEMES } from "./user-config.ts";

/*
 * The form of config files: `readValue` reads by it, `docs/config.schema.json` is made of it, and the keys of
 * `config get` and `config set` come from it. `reads` names what a text has to be besides: see `CHECKS`.
 */

/** Characters of a text, and entries of a list. */
export const MAX_TEXT = 4096;
export const MAX_ITEMS = 1000;
/** Characters of a text that exports leave out, and such texts. */
const MAX_REDACTED = 200;
const MAX_REDACTED_TEXTS = 100;
/** 1 TiB, as memory and files have MiB. */
const MAX_SANDBOX = 1024 * 1024;
/** Time that a call of a server's tool may take. */
const MAX_TIMEOUT_MS = 3_600_000;
/** More than any model costs. */
const MAX_DOLLARS = 100_000;
const MIN_CONTEXT = 1000;
const VARIABLE = "^[A-Za-z_]\\w{0,255}$";

/** An object whose members may all be left out. */
function some<Members extends TProperties>(members: Members, options: object = {}) {
  return Type.Partial(Type.Object(members), { ...options, additionalProperties: false });
}

/** An object with any keys of a form; `keys` names what they are. */
function map<Value extends TSchema>(
  value: Value,
  options: {
    readonly propertyNames: { readonly pattern: string };
    readonly keys: string;
    readonly description: string;
  },
) {
  return Type.Unsafe<Readonly<Record<string, Static<Value>>>>({
    ...options,
    type: "object",
    additionalProperties: value,
  });
}

/** Refuses each of these members beside another one. */
function oneOfThese(names: readonly string[]): object {
  return Object.fromEntries(
    names.map((name) => {
      const others = names.filter((each) => each !== name);
      return [name, { properties: Object.fromEntries(others.map((other) => [other, false])) }];
    }),
  );
}

const text = (options: object = {}) => Type.String({ minLength: 1, ...options });
const item = (options: object = {}) => text({ maxLength: MAX_TEXT, ...options });
const list = (description: string, items = item(), options: object = {}) =>
  Type.Array(items, { description, maxItems: MAX_ITEMS, ...options });
const count = (description?: string, options: object = {}) =>
  Type.Integer({ ...(description === undefined ? {} : { description }), minimum: 1, ...options });
/** An amount of money, of a micro-dollar at least. */
const dollars = () => Type.Number({ minimum: 0.000001, maximum: MAX_DOLLARS });
const path = (description: string) => item({ description, pattern: "^(/|~$|~/)", reads: "path" });
const rules = (description: string) => list(description, item({ reads: "rule" }));

const Permission = {
  mode: Type.Enum([...PERMISSION_MODES], {
    description: "The mode that new sessions of the command line begin with.",
  }),
  allow: rules("Calls that need no question, such as write_file(docs/**)."),
  ask: rules("Calls that are asked about."),
  deny: rules("Calls that are denied; nothing but this file allows them again."),
};

const Limits = {
  children_at_once: count("Sub-agents of one exchange that run at once."),
  children: count("Sub-agents that one exchange begins."),
  model_calls: count("Calls of models in one exchange, its sub-agents' included."),
};

const SandboxLimits = some({
  processes: count("Processes of one command.", { maximum: MAX_SANDBOX }),
  memory_mib: count("Memory of one command with all that it starts, in MiB.", {
    maximum: MAX_SANDBOX,
  }),
  file_mib: count("Size of one file that it writes, in MiB.", { maximum: MAX_SANDBOX }),
});

const McpForm = some(
  {
    command: item({ description: "The program that is the server, without a shell." }),
    args: list("Its arguments."),
    env: map(item(), {
      description: "Variables that it gets besides; ${NAME} is a variable of yours.",
      propertyNames: { pattern: VARIABLE },
      keys: "variable",
    }),
    url: item({
      description: "The address of a server that is spoken with over HTTP.",
      pattern: "^https?://[^/]",
      reads: "server_address",
    }),
    headers: map(item({ pattern: "^[\\x20-\\x7e]+$", reads: "header" }), {
      description: "Sent with each request to it; ${NAME} is a variable of yours.",
      propertyNames: { pattern: "^[A-Za-z0-9-]{1,64}$" },
      keys: "header",
    }),
    oauth: some(
      {
        client_id: item({
          description: "A client that you have registered there; without it one is registered.",
        }),
        client_secret: item({
          description: "Its secret, if it has one; ${NAME} is a variable of yours.",
        }),
        callback_port: count(
          "The port of its redirect address, http://127.0.0.1:<port>/callback.",
          {
            maximum: 65_535,
          },
        ),
      },
      { description: "For `reprise mcp login`, if the login needs it." },
    ),
    tools: list("The tools that are used, by the server's own names; all of them without it."),
    timeout_ms: count("Milliseconds that a call of its tools may take.", {
      maximum: MAX_TIMEOUT_MS,
    }),
    enabled: Type.Boolean({ description: "Whether it is used; true by default." }),
  },
  {
    dependentSchemas: oneOfThese(["command", "url"]),
    exclusive: ["command", "url"],
  },
);

const Section = {
  model: text({
    description: "The model of sessions and personas that name none, as provider:model.",
    reads: "model",
  }),
  effort: Type.Enum([...EFFORTS], {
    description: "How much models reason; a model that does not take it refuses to answer.",
  }),
  cache: Type.Enum([...CACHE_LIVES], {
    description: "How long a provider keeps what it has read of a conversation.",
  }),
  fallback: list(
    "Models that answer in the place of one whose provider cannot, in the order in which they are tried.",
    item({ reads: "model" }),
    { maxItems: MAX_FALLBACKS, uniqueItems: true },
  ),
  when_limited: Type.Enum([...WHEN_LIMITED], {
    description:
      "Whether exchanges of a service fail or wait if they reach a limit of the provider that is over at a known time.",
  }),
  persona: text({ description: "Who answers in new sessions of the command line." }),
  permission: some(Permission, { description: "What is asked before a tool takes effect." }),
  protected: list(
    "What no tool touches: absolute paths, paths that begin with ~/, and patterns below the session's folder. A pattern without a slash counts at every depth.",
    item({ reads: "protected" }),
  ),
  limits: some(
    {
      ...Limits,
      tokens: some(
        { exchange: count(), session: count(), tree: count() },
        {
          description: "Tokens that new sessions of the command line may use, as --token-limit.",
        },
      ),
      price: some(
        { exchange: dollars(), session: dollars(), tree: dollars() },
        {
          description:
            "Dollars that the requests of models of new sessions of the command line may cost, as --price-limit.",
        },
      ),
    },
    { description: "What an exchange or a session may use." },
  ),
  environment: list(
    "Exact names of variables that commands of the agent get besides.",
    Type.String({ pattern: VARIABLE, reads: "variable" }),
  ),
  sandbox: some(
    {
      limits: SandboxLimits,
      visible: list(
        "What of your home folder commands see besides toolchains and caches, such as ~/.config/tool.",
        Type.String({
          maxLength: MAX_TEXT,
          // no part of such a path leads back
          pattern: "^~(?:/(?!\\.{1,2}(?:/|$))[^/]+)+/?$",
          reads: "below_home",
        }),
      ),
    },
    { description: "Of commands that the agent runs in the sandbox." },
  ),
  mcp: map(McpForm, {
    description: "MCP servers by their names; their tools are <name>__<tool>.",
    propertyNames: { pattern: SERVER_NAME },
    keys: "server",
  }),
};

/** Hooks of one event at most. */
const MAX_HOOKS = 50;

const HookMembers = {
  match: item({
    description:
      "What the hook is for: names of tools such as Write|Edit (for Notification, SessionStart and SessionEnd their kind, source and reason), a regular expression, or * for all.",
    reads: "match",
  }),
  command: item({ description: "A line for /bin/sh." }),
  timeout_ms: count("Milliseconds after which it is ended (60,000).", {
    maximum: HOOK_TIMEOUT.max,
  }),
};
const needsCommand = { required: ["command"] };

function hooks<Entry extends TSchema>(entry: Entry) {
  const each = (description: string) => Type.Array(entry, { description, maxItems: MAX_HOOKS });
  return some(
    {
      SessionStart: each("When a process takes up a session; what it prints is for the model."),
      UserPromptSubmit: each("Before a message is taken; may deny it or add to it."),
      PreToolUse: each("Before a call of a tool; may deny it or add to its result."),
      PostToolUse: each("After a call that succeeded; what it prints is added to the result."),
      Notification: each("When a person is asked."),
      Stop: each("Before an answer is the last one; may let the model continue."),
      SessionEnd: each("When a terminal leaves a session or begins a fresh context."),
    },
    { description: "Commands that run at events; docs/hooks.md explains them." },
  );
}

/** Hooks of the user's own config; only they may leave the sandbox. */
const Hooks = hooks(
  some(
    {
      ...HookMembers,
      sandbox: Type.Boolean({
        description: "false runs it without a sandbox, with all that you may do.",
      }),
    },
    needsCommand,
  ),
);

const SectionForm = some({ ...Section, hooks: Hooks });

/** Of these a provider has one at most. */
const KEY_SOURCES = ["key_env", "key_file", "key_command"] as const;

const ProviderForm = some(
  {
    api: Type.Enum([...APIS], {
      description: "How it is spoken: Chat Completions, Responses or Anthropic's Messages.",
    }),
    base_url: item({
      description: "Its address. No key is sent to it but the one that is here.",
      pattern: "^https?://[^/]",
      reads: "address",
    }),
    key_env: Type.String({
      description: "The variable that holds the key.",
      pattern: VARIABLE,
      reads: "variable",
    }),
    key_file: path("A file that holds the key: an absolute path, or one that begins with ~/."),
    key_command: list("A command that prints the key, run without a shell.", item(), {
      minItems: 1,
    }),
    headers: map(item({ pattern: "^[\\x20-\\x7e]+$", reads: "header" }), {
      description: "Sent with each request.",
      propertyNames: { pattern: "^[A-Za-z0-9-]{1,64}$" },
      keys: "header",
    }),
  },
  {
    dependentSchemas: oneOfThese(KEY_SOURCES),
    exclusive: KEY_SOURCES,
  },
);

const price = (what: string) =>
  Type.Number({
    description: `Dollars for a million tokens ${what}.`,
    minimum: 0,
    maximum: MAX_DOLLARS,
  });

const ModelForm = some({
  context: count("Tokens of the request and the answer at most.", { minimum: MIN_CONTEXT }),
  output: count("Tokens of one answer at most."),
  price: some(
    {
      input: price("of the request"),
      output: price("of the answer"),
      cache_read: price("from the cache"),
      cache_write_5m: price("that are kept for 5 minutes"),
      cache_write_1h: price("that are kept for an hour"),
    },
    { description: "What its requests cost, whatever their size." },
  ),
  images: Type.Boolean({ description: "Whether it reads images." }),
  reasoning: Type.Boolean({ description: "Whether it reasons before it answers." }),
});

/** The user's config. */
export const ConfigForm = some(
  {
    $schema: text(),
    ...Section,
    hooks: Hooks,
    theme: Type.Enum([...THEMES], {
      description: "The colours of the screen; auto asks the terminal for its background.",
    }),
    notifications: Type.Enum([...NOTIFICATIONS], {
      description: "How the screen notifies when an exchange of over 20 s ends or asks.",
    }),
    search: Type.Enum([...SEARCH_SETTINGS], {
      description: "Whether messages are indexed and can be searched.",
    }),
    redact: list(
      "Texts that sessions export --redact leaves out, such as acme-*: a * is up to 64 characters without white space.",
      Type.String({
        maxLength: MAX_REDACTED,
        pattern: "^[^*]{3,}(?:\\*[^*]*)?$",
        reads: "redacted",
      }),
      { maxItems: MAX_REDACTED_TEXTS },
    ),
    providers: map(ProviderForm, {
      description:
        "Addresses and keys of providers by their names: those that come with Reprise, and others.",
      propertyNames: { pattern: PROVIDER_NAME },
      keys: "provider",
    }),
    models: map(ModelForm, {
      description: "Facts about models, by provider:model, in place of those that are known.",
      propertyNames: { pattern: MODEL_NAME },
      keys: "model",
    }),
    folders: map(SectionForm, {
      description:
        "Sections for folders and those below them, by absolute path or a path that begins with ~/.",
      propertyNames: { pattern: "^(/|~$|~/)" },
      keys: "folder",
    }),
  },
  { title: "Reprise's config.jsonc", description: "docs/configuration.md explains the keys." },
);

/** Keys that the config of a folder may hold: but for its hooks, which stay in the sandbox, they only make things stricter. */
export const RepositoryForm = some({
  $schema: Type.Unknown(),
  permission: some({ ask: Permission.ask, deny: Permission.deny }),
  protected: list("", item({ reads: "pattern" })),
  limits: some(Limits),
  sandbox: some({ limits: SandboxLimits }),
  hooks: hooks(some(HookMembers, needsCommand)),
});

/** As they are written, without what cannot be used. */
export type SectionText = Static<typeof SectionForm>;
export type McpText = Static<typeof McpForm>;
export type ProviderText = Static<typeof ProviderForm>;
export type ConfigText = Static<typeof ConfigForm>;
export type RepositoryText = Static<typeof RepositoryForm>;
