import { defineError } from '../platform/http/api-error.ts'

/** Errors of the commands that administer a server, printed as messages, without a code. */

export const slugTaken = defineError({
  status: 409,
  code: 'slug_taken',
  cause: 'Another organization has the slug.',
  remedy: 'Choose another slug.',
  message: (slug: string) => `Organization "${slug}" already exists`,
})

export const repositoryConnected = defineError({
  status: 409,
  code: 'repository_connected',
  cause: 'The repository is connected, so that its code host names it.',
  remedy: 'Change the repository on the code host.',
  message: ({ full_name, provider, id, host }: ConnectedRepository) =>
    `${full_name} (${provider} ${id}) is connected: its name, host and tracked branch come from ${host}`,
})
type ConnectedRepository = { full_name: string; provider: string; id: string; host: string | null }

export const chainNotBroken = defineError({
  status: 409,
  code: 'chain_not_broken',
  cause: 'No break of the chain is waiting for an acknowledgement.',
  remedy: 'Read the state of the chain with `provenance verify`.',
  message: 'No break of the chain is waiting for an acknowledgement',
})

export const rowAuthentic = defineError({
  status: 409,
  code: 'row_authentic',
  cause: 'The row that is acknowledged is as it was stored, or it does not exist.',
  remedy: 'Read what does not match with `provenance verify`.',
  message: (part: string, resource: string) => `There is no break of the ${part} ${resource}`,
})

export const foreignRow = defineError({
  status: 409,
  code: 'foreign_row',
  cause: 'The key or checkpoint was not made with the secret key of this server, so nobody can vouch for it.',
  remedy: 'Delete the row as the owner of the database, or restore it from a backup.',
  message: (part: string, resource: string) =>
    `The ${part} ${resource} was not made with the secret key of this server. Delete its row as the owner of the database, or restore it from a backup`,
})

export const keyInUse = defineError({
  status: 409,
  code: 'key_in_use',
  cause: 'The organization has used the signing key before.',
  remedy: 'Create another key in AWS KMS.',
  message: (name: string) =>
    `The organization has used the key ${name} before. Create another key in AWS KMS, set SHIPLOCK_SIGNING_KMS_KEY to it, restart the server, and run the command again`,
})

export const expiredRegroup = defineError({
  status: 409,
  code: 'expired_regroup',
  cause: 'What the regroup changed is no longer stored.',
  remedy: 'Regroup again.',
  message: (runId: string) => `Regroup "${runId}" is too old: what it changed is no longer stored.`,
})

export const laterRegroup = defineError({
  status: 409,
  code: 'later_regroup',
  cause: 'A later regroup has not been undone.',
  remedy: 'Undo the later regroup first.',
  message: (laterId: string) => `Undo the later regroup ${laterId} first.`,
})

export const regroupUndone = defineError({
  status: 409,
  code: 'regroup_undone',
  cause: 'The regroup is only partly undone.',
  remedy: 'Undo it again.',
  message: (id: string) => `Regroup ${id} is only partly undone. Run --undo ${id} again to finish it.`,
})
