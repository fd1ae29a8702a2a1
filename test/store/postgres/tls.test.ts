import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";

import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";

import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { startEmbedded } from "../../helpers/postgres-server.ts";
import { severalHosts } from "../../helpers/postgres/several-hosts.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** Certificates are made on the spot, so that none is ever kept or out of date. */
const OPENSSL = "openssl";
const hasOpenssl = spawnSync(OPENSSL, ["version"]).status === 0;

describe.skipIf(!hasOpenssl)("TLS (needs the openssl command)", () => {
  it("[PG-7] [PG-34] is what sslmode asks for, on every connection; an untrusted certificate is refused", async () => {
    const authority = join(temporaryFolder(), "authority.pem");
    const server = await startEmbedded({
      settings: { ssl: "on" },
      addFiles: (folder) => makeCertificate(folder, authority),
    });
    onTestFinished(() => server.stop());
    const named = server.url.replace("127.0.0.1", "localhost");
    const vouched = `sslrootcert=${encodeURIComponent(authority)}`;

    expect(await usesTls(`${named}?sslmode=disable`)).toEqual(new Set([false]));
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      expect(await usesTls(`${named}?sslmode=${mode}&${vouched}`)).toEqual(new Set([true]));
    }
    expect(await usesTls(`${named}?sslmode=no-verify`)).toEqual(new Set([true]));
    // each host has to prove its own name
    const both = severalHosts([server.url, named], `sslmode=verify-full&${vouched}`);
    expect(await usesTls(both)).toEqual(new Set([true]));
    const refused = [
      `${named}?sslmode=require`,
      severalHosts([server.url, server.url], `sslmode=verify-full&${vouched}`),
      // the certificate names localhost only
      `${server.url}?sslmode=verify-ca&${vouched}`,
    ];
    for (const url of refused) {
      await expect(openPostgresStore({ url })).rejects.toMatchObject({
        code: "database_unavailable",
        message: expect.stringMatching(/TLS/),
      });
    }
  });
});

/** Whether the connections of a store, those of its hints among them, are encrypted. */
async function usesTls(url: string): Promise<Set<boolean>> {
  // the server may not have noticed yet that those of the store before this one are gone
  const begun = Date.now() / 1000;
  await using store = await openPostgresStore({ url });
  store.onCommit(() => undefined);
  for (;;) {
    const { rows } = await store.read(
      (tx) =>
        sql<{ ssl: boolean }>`SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
          WHERE application_name = 'reprise' AND backend_start >= to_timestamp(${begun})`.execute(
          tx.db,
        ),
      null,
    );
    if (rows.length >= 2) {
      return new Set(rows.map(({ ssl }) => ssl));
    }
  }
}

function makeCertificate(folder: string, authority: string): string[] {
  const key = join(folder, "server.key");
  const certificate = join(folder, "server.crt");
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", key, "-out", certificate];
  const { status, stderr } = spawnSync(
    OPENSSL,
    [..."req -x509 -newkey rsa:2048 -nodes -days 2".split(" "), ...names, ...files],
    { encoding: "utf8" },
  );
  if (status !== 0) {
    throw new Error(`openssl made no certificate: ${stderr}`);
  }
  copyFileSync(certificate, authority);
  return [key, certificate];
}
