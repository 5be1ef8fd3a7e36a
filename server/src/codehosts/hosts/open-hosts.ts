import type { KeyObject } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { lazy } from '../../platform/lazy.ts'
import type { Provider } from '../catalogue.ts'
import type { CodeHost, CodeHosts, HostApp, HostApps, HostParts } from '../code-host.ts'
// Its metric is there before a host is used.
import '../kit/api-fetch.ts'
import { GithubApp } from './github/app/github-app.ts'

const MODULES: Record<Provider, () => Promise<{ openHost(parts: HostParts): CodeHost }>> = {
  github: () => import('./github/host.ts'),
  gitlab: () => import('./gitlab/host.ts'),
  bitbucket: () => import('./bitbucket/host.ts'),
  azure: () => import('./azure/host.ts'),
}

/**
 * The supported code hosts. None is contacted yet. The code of a host is loaded when it is first
 * used: few installations have more than one, and most commands need none.
 */
export function openCodeHosts(parts: HostParts): CodeHosts {
  const hosts = new Map(
    Object.entries(MODULES).map(([provider, load]) => [provider, lazy(async () => (await load()).openHost(parts))]),
  )
  return { get: (provider) => hosts.get(provider)?.() }
}

type AppParts = { config: Config; sql: Sql; clock: Clock; sealingKey: KeyObject }

/** Our Apps, at the hosts that have them. */
export function openHostApps(parts: AppParts): HostApps {
  return new Map<string, HostApp>([['github', new GithubApp(parts)]])
}
