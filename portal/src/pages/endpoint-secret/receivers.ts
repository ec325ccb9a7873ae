/** The example receivers of the project, as they are in `receivers/`, and the part of each that verifies. */
import csharp from "../../../../receivers/csharp/Program.cs?raw";
import go from "../../../../receivers/go/main.go?raw";
import java from "../../../../receivers/java/Receiver.java?raw";
// oxlint-disable-next-line import/default -- its text, not the module
import node from "../../../../receivers/node/receiver.mjs?raw";
import php from "../../../../receivers/php/receiver.php?raw";
import python from "../../../../receivers/python/receiver.py?raw";
import ruby from "../../../../receivers/ruby/config.ru?raw";
import rust from "../../../../receivers/rust/src/main.rs?raw";
import { verificationOf, withoutMarks } from "./cut.ts";
import type { Language } from "./tabs.ts";

type Receiver = { name: string; source: string; comment: string; run: string };

const RECEIVERS: Record<Language, Receiver> = {
  node: { name: "Node", source: node, comment: "//", run: "node receiver.mjs" },
  python: { name: "Python", source: python, comment: "#", run: "python3 receiver.py" },
  go: { name: "Go", source: go, comment: "//", run: "go run ." },
  ruby: { name: "Ruby", source: ruby, comment: "#", run: "rackup --host 127.0.0.1 --port 8000" },
  php: { name: "PHP", source: php, comment: "//", run: "php -S 127.0.0.1:8000 receiver.php" },
  java: { name: "Java", source: java, comment: "//", run: "java Receiver.java" },
  csharp: { name: "C#", source: csharp, comment: "//", run: "dotnet run" },
  rust: { name: "Rust", source: rust, comment: "//", run: "cargo run --locked" },
};

export function languageName(language: Language): string {
  return RECEIVERS[language].name;
}

/** Its code, below a first line that says what it is for; and the command that runs a whole receiver. */
export function snippetOf(language: Language, extent: "part" | "whole", about: string) {
  const { source, comment, run } = RECEIVERS[language];
  const code = extent === "whole" ? withoutMarks(source) : `${comment} ${about}\n${verificationOf(source)}`;
  return { code, run };
}
