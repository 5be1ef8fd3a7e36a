import { type Static, Type } from 'typebox'
import { MINUTE_MS } from '../../../platform/clock.ts'
import { type HostClient, HostRefusal, type WebhookTarget } from '../../code-host.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { Remembered } from '../../kit/remembered.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { GitlabApi } from '../client/gitlab-api.ts'
import { projectPath, type Session } from '../client/session.ts'
import { hookSettings } from './hook-settings.ts'

type Webhooks = Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'>

const CHECKED_MS = 10 * MINUTE_MS
const PROJECT_PAGES_MAX = 50

/**
 * One webhook of the group covers its projects, where the edition has that and the token is an
 * owner's; else each project has one.
 */
export function webhooks(session: Session): Webhooks {
  const { api, clock } = session
  const targets = new Map<string, WebhookTarget>()
  const target = (key: string) => targets.get(key) as WebhookTarget
  const checks = new Remembered({
    read: (key) => putHook(api, pathOf(key), target(key)),
    clock,
    ageMsMax: CHECKED_MS,
  })
  const check = (path: string, wanted: WebhookTarget): Promise<boolean> => {
    const key = JSON.stringify([path, wanted.address, wanted.secret])
    targets.set(key, wanted)
    return checks.get(key)
  }
  return {
    async ensureWebhook(repository, wanted) {
      const account = await session.account()
      if (account.type === 'group' && (await check(restPath`/groups/${account.id}/hooks`, wanted))) return
      if (await check(`${projectPath(repository)}/hooks`, wanted)) return
      const text = 'GitLab does not let the token manage webhooks. It needs the role Maintainer, for a group Owner.'
      throw new HostRefusal(403, text)
    },

    async removeWebhooks(address) {
      const account = await session.account()
      if (account.type === 'group') await removeHooks(api, restPath`/groups/${account.id}/hooks`, address)
      for (const project of await projectsOf(session)) await removeHooks(api, `${project}/hooks`, address)
    },
  }
}

function pathOf(key: string): string {
  return (JSON.parse(key) as [string])[0]
}

const Hook = Type.Object({ id: Id, url: Text, signing_token_present: Maybe(Type.Boolean()) })
type Hook = Static<typeof Hook>

async function listHooks(api: GitlabApi, path: string, address: string): Promise<Hook[] | null> {
  const values = await api.readList(path)
  return values && api.parseItems(values, (value) => readAs(Hook, value)).filter(({ url }) => url === address)
}

/** False if webhooks cannot be managed here. */
async function putHook(api: GitlabApi, path: string, target: WebhookTarget): Promise<boolean> {
  const found = await listHooks(api, path, target.address)
  if (found === null) return false
  const [first, ...others] = found
  for (const { id } of others) await api.send('DELETE', `${path}/${id}`)
  const settings = hookSettings(target)
  const answer = first ? await api.send('PUT', `${path}/${first.id}`, settings) : await api.send('POST', path, settings)
  const hook = readAs(Hook, answer)
  // A webhook that signs needs no token, which could be read from its requests.
  if (hook.signing_token_present) await api.send('PUT', `${path}/${hook.id}`, { url: target.address, token: '' })
  return true
}

async function removeHooks(api: GitlabApi, path: string, address: string): Promise<void> {
  for (const { id } of (await listHooks(api, path, address)) ?? []) await api.send('DELETE', `${path}/${id}`)
}

const Project = Type.Object({ id: Id })

async function projectsOf(session: Session): Promise<string[]> {
  const { api } = session
  const { id, login, type } = await session.account()
  const list = type === 'group' ? restPath`/groups/${id}/projects` : restPath`/users/${login}/projects`
  const own = type === 'group' ? { include_subgroups: true, with_shared: false } : {}
  const values = await api.readList(list, { ...own, simple: true }, PROJECT_PAGES_MAX)
  return api.parseItems(values ?? [], (value) => projectPath({ id: String(readAs(Project, value).id) }))
}
