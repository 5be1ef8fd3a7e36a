import { parseRunId, runIdOf } from './run-id.ts'

/**
 * What a deployment goes to: the id of an environment; its name, where a check states only that;
 * or the name of a stage, where an event names only that.
 */
export type DeploymentPlace = number | { name: string } | { stage: string }

/**
 * A deployment is what one attempt of a stage deploys to one environment. Azure DevOps has records
 * of it, but only once the checks of the environment are passed, so they cannot name it. An attempt
 * of null is the newest.
 */
export type DeploymentName = { project: string; build: number; environment: DeploymentPlace; attempt: number | null }

const ID = /^(.+?)_(?:([1-9]\d{0,9})|(name|stage):([^_]*))_(0|[1-9]\d{0,5})$/s

export function deploymentIdOf({ environment, attempt, ...build }: DeploymentName): string {
  return `${runIdOf(build)}_${placeText(environment)}_${attempt ?? 0}`
}

function placeText(place: DeploymentPlace): string {
  if (typeof place === 'number') return String(place)
  return 'name' in place ? `name:${encoded(place.name)}` : `stage:${encoded(place.stage)}`
}

function encoded(name: string): string {
  return encodeURIComponent(name).replaceAll('_', '%5F')
}

/** Null for a text that is no id of a deployment. */
export function parseDeploymentId(id: string): DeploymentName | null {
  const [, run = '', environmentId, kind, text = '', attempt] = ID.exec(id) ?? []
  const build = parseRunId(run)
  if (build === null) return null
  const named = decodeURIComponent(text)
  const place = kind === 'stage' ? { stage: named } : { name: named }
  const environment = environmentId === undefined ? place : Number(environmentId)
  return { ...build, environment, attempt: Number(attempt) || null }
}
