import type { OutputBundle, Plugin } from "rolldown";

/** A file that only exports what another one has, by its names there. */
interface Facade {
  readonly file: string;
  readonly names: ReadonlyMap<string, string>;
}

const FACADE =
  /^import \{ (?<imported>[^}]*) \} from "\.\/(?<file>[\w.-]+)";\s*export \{ (?<exported>[^}]*) \};\s*$/;
const IMPORT = /\bimport\("\.\/([\w.-]+)"\)/g;

/**
 * Takes what `import()` names from the file that has it. For a module that is in a file with others the
 * bundler makes one more file, with that module's exports alone, and a start pays for each file.
 */
export function withoutFacades(): Plugin {
  return {
    name: "without-facades",
    generateBundle: (_, output) => {
      const facades = facadesOf(output);
      for (const file of Object.values(output)) {
        if (file.type === "chunk") {
          file.code = file.code.replace(IMPORT, (whole, name: string) => {
            const facade = facades.get(name);
            return facade === undefined ? whole : imported(facade);
          });
        }
      }
      for (const name of facades.keys()) {
        delete output[name];
      }
    },
  };
}

function facadesOf(output: OutputBundle): ReadonlyMap<string, Facade> {
  const facades = new Map<string, Facade>();
  for (const file of Object.values(output)) {
    const found =
      file.type === "chunk" && !file.isEntry ? FACADE.exec(file.code)?.groups : undefined;
    if (found !== undefined) {
      const names = new Map(split(found["imported"]).map(([name, own = name]) => [own, name]));
      facades.set(file.fileName, {
        file: found["file"] ?? "",
        names: new Map(
          split(found["exported"]).map(([own, name = own]) => [name, names.get(own) ?? own]),
        ),
      });
    }
  }
  return facades;
}

/** `a as b, c` as its pairs and single names. */
function split(list = ""): (readonly [string, string?])[] {
  return list.split(", ").map((each) => {
    const [name = "", other] = each.split(" as ");
    return [name, other];
  });
}

function imported({ file, names }: Facade): string {
  const taken = [...names].map(([name, there]) => `${there}: ${name}`);
  return `import("./${file}").then(({ ${taken.join(", ")} }) => ({ ${[...names.keys()].join(", ")} }))`;
}
