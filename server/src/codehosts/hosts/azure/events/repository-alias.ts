import { type BuildName, parseRunId, runIdOf } from '../objects/run-id.ts'

/**
 * Stands for a repository in the change that an event names, where the event does not have its id.
 * The host finds the repository by it.
 */
export type RepositoryAlias = { run: BuildName } | { project: string; name: string }

const RUN = 'run:'
const NAMED = /^name:([0-9a-f-]{36}):(.+)$/s

/** Events of pipelines name the run only. */
export function repositoryOfRun(build: BuildName): string {
  return `${RUN}${runIdOf(build)}`
}

/** Events of alerts have the address of the repository. Null if it is not one of Azure Repos. */
export function repositoryOfUrl(project: string, url: string): string | null {
  const name = /\/_git\/([^/?#]+)$/.exec(URL.canParse(url) ? new URL(url).pathname : '')?.[1]
  return name === undefined ? null : `name:${project.toLowerCase()}:${decodeURIComponent(name)}`
}

/** Null for the id of a repository. */
export function parseAlias(id: string): RepositoryAlias | null {
  const run = id.startsWith(RUN) ? parseRunId(id.slice(RUN.length)) : null
  if (run !== null) return { run }
  const [, project, name] = NAMED.exec(id) ?? []
  return project && name ? { project, name } : null
}
