export const TABS = ["rotate", "verify", "debug"] as const;
export const LANGUAGES = ["node", "python", "go", "ruby", "php", "java", "csharp", "rust"] as const;
export type Language = (typeof LANGUAGES)[number];
