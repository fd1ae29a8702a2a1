import { Type } from "typebox";

import { RepriseError } from "../../core/errors.ts";
import { SCRAPE_FRESH_MS } from "../../core/limits.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import { named } from "../../core/schemas/schemas.ts";
import {
  DoctorReport,
  ModelInfo,
  NodeInfo,
  PersonaInfo,
  PersonasQuery,
} from "../../core/schemas/service-schemas.ts";
import type { Catalogue } from "../../rules/catalogue.ts";
import { listNodes } from "../../store/records/exchanges/nodes.ts";
import type { Store } from "../../store/store.ts";
import { ok } from "../../store/check.ts";
import { checkSessions } from "../../store/verify/check-sessions.ts";
import { singleFlight } from "../metrics/single-flight.ts";
import { json, problems } from "../responses.ts";
import type { Api } from "./api.ts";

const nodesSchema = {
  operationId: "listNodes",
  summary: "Lists the services on this database that run exchanges now",
  description: "Those that are alive. A service that runs nothing is not among them.",
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(NodeInfo)), { description: "The nodes, by their ids." }),
    ...problems(),
  },
};

const doctorSchema = {
  operationId: "checkService",
  summary: "Checks the sessions of the database, and the personas and models of this service",
  description:
    "As `reprise doctor`, without the checks of the database's files, which only the command makes.",
  querystring: NoQuery,
  response: {
    200: json(named(DoctorReport), { description: "The checks, failed ones included." }),
    ...problems(),
  },
};

const personasSchema = {
  operationId: "listPersonas",
  summary: "Lists the personas that a new session can name",
  description:
    "Those of the user that runs this service, and those of the folder if that user trusts it.",
  querystring: PersonasQuery,
  response: {
    200: json(Type.Array(named(PersonaInfo)), { description: "The personas, by their names." }),
    ...problems(),
  },
};

const modelsSchema = {
  operationId: "listModels",
  summary: "Lists models that a new session can name",
  description:
    "The default one, one of each provider that has a key, those of personas, the demo, and what the table has of providers with a key. Others can be named, too. No provider is asked.",
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(ModelInfo)), { description: "The models, the default one first." }),
    ...problems(),
  },
};

const askedModelsSchema = {
  ...modelsSchema,
  operationId: "askForModels",
  summary: "Asks the providers for their models",
  description:
    "As `listModels`, with the models that the providers list now. Each provider with a key or an address is asked, for 5 s at most; one that does not answer adds nothing.",
};

/** How long a client waits for the checks. */
const CHECKS_TIMEOUT_MS = 10_000;

/** Without a catalogue the service names no personas and models. */
export function serviceRoutes(app: Api, store: Store, catalogue: Catalogue | undefined): void {
  const checked = singleFlight({
    work: async () => [
      ok("open", "The database can be opened and read."),
      ...(await store.read(checkSessions, { resume: "reprise --session <id>" })),
      ...((await catalogue?.checks()) ?? []),
    ],
    ttlMs: SCRAPE_FRESH_MS,
    timeoutMs: CHECKS_TIMEOUT_MS,
    timeoutError: () =>
      new RepriseError(
        "database_unavailable",
        "The checks take too long; run `reprise doctor` instead.",
      ),
  });
  app.route({
    method: "GET",
    url: "/api/nodes",
    schema: nodesSchema,
    handler: () => store.read(listNodes, null),
  });
  app.route({
    method: "GET",
    url: "/api/doctor",
    schema: doctorSchema,
    handler: async () => {
      const checks = await checked();
      return { ok: checks.every(({ status }) => status !== "failed"), checks };
    },
  });
  app.route({
    method: "GET",
    url: "/api/personas",
    schema: personasSchema,
    handler: async ({ query }) => (await catalogue?.personas(query.repo_path ?? null)) ?? [],
  });
  app.route({
    method: "GET",
    url: "/api/models",
    schema: modelsSchema,
    handler: async () => (await catalogue?.models()) ?? [],
  });
  app.route({
    method: "POST",
    url: "/api/models/refresh",
    schema: askedModelsSchema,
    handler: async () => (await catalogue?.askedModels()) ?? [],
  });
}
