/** Options of {@link mcptest}. */
export interface Options {
  /** Further arguments of `mcptest run`, such as `["--var", "port=8080"]`. */
  args?: string[];
  /** The working directory; the one of the process if it is not set. */
  cwd?: string;
}

/**
 * Declares a Vitest test for each case of a suite. A relative path starts at the
 * working directory; `new URL("suite.yaml", import.meta.url)` is next to the module.
 */
export declare function mcptest(file: string | URL, options?: Options): void;
