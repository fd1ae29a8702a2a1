import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to who asks for any: 32768 and more on Linux, 49152 and more elsewhere. */
const PORTS = { min: 12_000, max: 32_000 };

/**
 * Returns a free port for a server that is started later, or again. No other program of the tests gets it meanwhile: they ask
 * for any port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.min + Math.floor(Math.random() * (PORTS.max - PORTS.min));
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      return port;
    } catch {
      // somebody has it
    } finally {
      server.close();
    }
  }
}
