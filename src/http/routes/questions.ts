import { Type } from "typebox";

import { invalidRequest } from "../../core/invalid-request.ts";
import { LARGE_ANSWER_BYTES, MAX_BODY_BYTES, MAX_CONTENT_BYTES } from "../../core/limits.ts";
import type { GivenReply } from "../../core/questions.ts";
import { NoQuery, QuestionsQuery } from "../../core/schemas/query-schemas.ts";
import { AnswerRequest, named, QuestionInfo } from "../../core/schemas/schemas.ts";
import { answerQuestion } from "../../store/records/questions/answer.ts";
import {
  listOpenQuestions,
  listWithAnswered,
  openQuestionBytes,
} from "../../store/records/questions/read.ts";
import { json, problems } from "../responses.ts";
import {
  type Api,
  BODY_PROBLEMS,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "./api.ts";

const listSchema = {
  operationId: "listQuestions",
  summary: "Lists the questions of a session and its sub-agents that nobody has answered",
  description:
    "The oldest first. `path` names the sessions from this one down to the one that asks. The exchange continues with the answers to all that one session asks. With `answered=true`, the latest 100 that were answered follow.",
  params: SessionParams,
  querystring: QuestionsQuery,
  response: {
    200: json(Type.Array(named(QuestionInfo)), { description: "The questions." }),
    ...problems(SESSION_PROBLEMS),
  },
};

const answerSchema = {
  operationId: "answerQuestion",
  summary: "Answers a question",
  description:
    "With `choice`, the id of one of its choices, or with `text` if it has none. The first answer counts. With the last one of the session that asks, the exchange that waits is queued, whatever other sub-agents ask. The session is the one that asks, or one above it.",
  params: Type.Object({
    ...SessionParams.properties,
    q: Type.String({ description: "The question's id." }),
  }),
  querystring: NoQuery,
  body: named(AnswerRequest),
  response: {
    200: json(named(QuestionInfo), { description: "The question with its answer." }),
    ...problems({
      ...SESSION_PROBLEMS,
      ...BODY_PROBLEMS,
      403: "`token_required`: the request has no token.",
      404: "The session or the question does not exist.",
      409: "`question_answered`, `question_withdrawn`, `session_ended`, or `ambiguous_id`.",
    }),
  },
};

export function questionRoutes(app: Api, { store, unsent }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id/questions",
    schema: listSchema,
    handler: async (request, reply) => {
      const reference = request.params.id;
      const isAll = request.query.answered === true;
      const open = await store.read(openQuestionBytes, { reference });
      const bytes = isAll ? open + MAX_CONTENT_BYTES : open;
      if (bytes > LARGE_ANSWER_BYTES) {
        await unsent.enter({ request, reply }, bytes);
      }
      const list = isAll ? listWithAnswered : listOpenQuestions;
      const questions = await store.read(list, { reference });
      return questions.map(({ path, ...question }) => ({ ...question, path: [...path] }));
    },
  });
  app.route({
    method: "POST",
    url: "/api/sessions/:id/questions/:q/answer",
    schema: answerSchema,
    bodyLimit: MAX_BODY_BYTES,
    handler: async ({ params, body, principal }) => {
      return store.write(answerQuestion, {
        reference: params.id,
        question: params.q,
        given: givenReply(body),
        note: body.note ?? null,
        answered_by: "http",
        principal,
      });
    },
  });
}

/** Error codes: `invalid_request` for both or neither. */
function givenReply({ choice, text }: AnswerRequest): GivenReply {
  if (choice !== undefined && text === undefined) {
    return { choice };
  }
  if (text !== undefined && choice === undefined) {
    return { text };
  }
  throw invalidRequest([
    {
      pointer: text === undefined ? "/choice" : "/text",
      message:
        text === undefined
          ? "Is missing. Send the id of a choice as `choice`, or `text` if the question has no choices."
          : "Must not be sent with `choice`. Send one of them.",
    },
  ]);
}
