import { type Static, Type } from 'typebox'
import type { InstallationEvent, TranslatedDelivery } from '../../code-host.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { Installation, installationOf } from '../objects/installation.parser.ts'
import { repositoryEvent } from './event-translator.ts'

/** A deleted repository keeps its last facts. Every other action changes them. */
export const repository = repositoryEvent({ action: Maybe(Text) }, ({ action }, repository) => ({
  kind: 'repository',
  data: { repository, change: action === 'deleted' ? 'deleted' : 'changed' },
}))

const RepositoryNames = Maybe(Type.Array(Type.Object({ id: Id, full_name: Text })))

const InstallationPayload = Type.Object({
  action: Text,
  installation: Installation,
  repositories: RepositoryNames,
  repositories_added: RepositoryNames,
  repositories_removed: RepositoryNames,
})

const CHANGES: Readonly<Record<string, InstallationEvent['change']>> = {
  created: 'created',
  deleted: 'removed',
  suspend: 'suspended',
  unsuspend: 'unsuspended',
}

/** Also reads `installation_repositories`, whose actions change the selection of repositories. */
export function installation(value: unknown): TranslatedDelivery {
  const payload = readAs(InstallationPayload, value)
  const event = {
    change: CHANGES[payload.action] ?? 'changed',
    installation: installationOf(payload.installation),
    added: namesOf(payload.repositories_added ?? (payload.action === 'created' ? payload.repositories : null)),
    removed: namesOf(payload.repositories_removed),
  }
  return { type: 'installation', event }
}

function namesOf(repositories: Static<typeof RepositoryNames> | undefined): { id: string; full_name: string }[] {
  return (repositories ?? []).map(({ id, full_name }) => ({ id: String(id), full_name }))
}
