import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { releaseNotes } from './release-notes.ts'

export const ROOT = new URL('..', import.meta.url).pathname
const PACKAGES = [
  'package.json',
  ...globSync('{server,cli,sdk,action,console,packages/*}/package.json', { cwd: ROOT }).sort(),
]
const CHART = 'deploy/helm/shiplock/Chart.yaml'
const COMPOSE = 'deploy/compose.yaml'

export function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}

export const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Why this tree cannot become the release. A snapshot needs no clean tree and no notes. */
export function checkTree(version: string, snapshot: boolean): string[] {
  const mistakes = checkVersions(version)
  if (snapshot) return mistakes
  const changed = git('status', '--porcelain').split('\n').filter(Boolean)
  if (changed.length > 0) mistakes.push(`The tree has changes that are not committed: ${changed[0]?.slice(3)}`)
  if (releaseNotes(readText('CHANGELOG.md'), version) === null)
    mistakes.push(`CHANGELOG.md has no section "## ${version}"`)
  return mistakes
}

function checkVersions(version: string): string[] {
  const chart = parse(readText(CHART))
  const found: [string, string | undefined][] = [
    ...PACKAGES.map((path): [string, string] => [path, JSON.parse(readText(path)).version]),
    [`version of ${CHART}`, chart.version],
    [`appVersion of ${CHART}`, chart.appVersion],
    [`image of ${COMPOSE}`, /:-shiplock:([^}]+)}/.exec(readText(COMPOSE))?.[1]],
  ]
  return found.flatMap(([where, is]) => (is === version ? [] : [`${where} is ${is}, not ${version}`]))
}
