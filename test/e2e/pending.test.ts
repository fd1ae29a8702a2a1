import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";

it("[CLI-13] messages over HTTP with the token reach the agent at the next exchange, once", async () => {
  const server = await startModelServer({
    answer: (_messages, index) => ({ content: `answer ${index + 1}` }),
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
  const service = home.start(["serve", "--port", "0"], { env: { REPRISE_TOKEN: "a-token" } });
  const headers = { authorization: "Bearer a-token" };
  const [, url] = await service.waitFor(/listening on (http:\/\/127\.0\.0\.1:\d+)/);

  const created = await fetch(`${url}/api/sessions`, { method: "POST", headers });
  const { id } = (await created.json()) as { id: string };
  for (const content of ["appended one", "appended two"]) {
    const answer = await fetch(`${url}/api/sessions/${id}/messages`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ content }),
    });
    expect(answer.status).toBe(201);
  }
  expect(server.requests()).toHaveLength(0);

  await home.json(["--session", id, "-p", "from the terminal", "--json"]);
  await home.json(["--session", id, "-p", "once more", "--json"]);
  const sent = server.requests().map((messages) => messages.map(({ content }) => content));
  expect(sent).toEqual([
    ["appended one", "appended two", "from the terminal"],
    ["appended one", "appended two", "from the terminal", "answer 1", "once more"],
  ]);

  const detail = (await (await fetch(`${url}/api/sessions/${id}`, { headers })).json()) as {
    messages: { seq: number; content: string }[];
  };
  expect(detail.messages.map(({ seq, content }) => [seq, content])).toEqual([
    [1, "appended one"],
    [2, "appended two"],
    [3, "from the terminal"],
    [4, "answer 1"],
    [5, "once more"],
    [6, "answer 2"],
  ]);
});
