import { Type } from 'typebox'
import { OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { APP_PROVIDERS, PROVIDERS } from '../catalogue.ts'
import { DELIVERY_STATUSES } from '../deliveries/delivery.ts'

const SYNC_DAYS_MAX = 400
/** How much of a payload is shown. */
export const PAYLOAD_CHARS_MAX = 1_000_000

export const ConnectionPath = Closed({
  org: OrganizationSlug,
  id: Type.String({ ...ItemId, description: 'The id of the connection.' }),
})
export const DeliveryPath = Closed({
  org: OrganizationSlug,
  delivery: Type.String({ pattern: '^[!-~]{1,100}$', description: 'The id of the delivery.' }),
})

const Provider = OneOf(PROVIDERS, { description: 'The code host.' })

function time(description: string) {
  return Nullable(Type.String({ ...Timestamp, description }))
}

const Account = Closed(
  {
    id: Type.String({ description: 'The id of the account on the code host.' }),
    login: Type.String({ description: 'The login of the account.' }),
    type: Type.String({ description: 'The type of the account, such as `organization` or `user`.' }),
  },
  { description: 'The account on the code host.' },
)

const Repositories = OneOf(['all', 'selected'], {
  description: 'Whether the installation covers all repositories of the account, or selected ones.',
})

const nullableCount = (description: string) => Nullable(Type.Integer({ description }))

const Sync = Closed(
  {
    state: OneOf(['idle', 'running', 'failed'], {
      description: 'The state of the synchronization. A failed one is tried again later.',
    }),
    phase: Nullable(Type.String({ description: 'What is read now. Null unless a synchronization runs.' })),
    done: nullableCount('The number of repositories that were read. Null while it is not known.'),
    total: nullableCount('The number of repositories to read. Null while it is not known.'),
    error: Nullable(
      Type.String({
        description: 'Why the last synchronization failed or was incomplete. Null if it read everything.',
      }),
    ),
  },
  { description: 'The progress of the synchronization.' },
)

const refusal = {
  list: Type.String({ description: 'The list that is refused, such as `runs` or `dependabot_alerts`.' }),
  status: Type.Integer({ description: "The status of the code host's answer, such as 404 or 451." }),
  message: Type.String({ description: 'What the code host answered.' }),
  since: { ...Timestamp, description: 'When the code host refused the list first, after it was last read.' },
}

export const RefusedList = Closed(refusal, {
  description: 'A list of a repository that its code host does not let the server read.',
})

const Refusal = Closed(
  {
    repository: Nullable(
      Type.String({ description: 'The repository. Null if the list of repositories itself is refused.' }),
    ),
    ...refusal,
  },
  { description: 'A list that the code host does not let the server read.' },
)

export const CodeHostConnection = Closed(
  {
    id: Type.String({ description: 'The id of the connection.' }),
    provider: Provider,
    host: Type.String({ description: 'The host name of the code host, such as `github.com`.' }),
    account: Account,
    status: OneOf(['active', 'suspended', 'removed'], {
      description: '`suspended`: the code host has suspended the installation. `removed`: the connection has ended.',
    }),
    repositories: Repositories,
    connected_at: { ...Timestamp, description: 'When the account was connected.' },
    last_event_at: time('When the last webhook of the account arrived, to the minute.'),
    last_synced_at: time('When the last synchronization ended.'),
    sync: Sync,
    refusals: Type.Array(Refusal, {
      description:
        'What the code host refused in the last synchronization, by repository, at most 100 lists. Everything else was ' +
        'read. A list disappears when it is read again.',
    }),
    refusals_total: Type.Integer({ description: 'How many lists the code host refused.' }),
  },
  { description: 'The connection of an organization to an account on a code host.' },
)

export const WaitingInstallation = Closed(
  {
    id: Type.String({ description: 'The id of the installation on the code host. Send it as `installation_id`.' }),
    provider: Provider,
    host: Type.String({ description: 'The host name of the code host.' }),
    account: Nullable(Account, { description: 'Null while the code host has not described the installation.' }),
    repositories: Nullable(Repositories),
    last_event_at: time('When the last webhook of the installation arrived.'),
  },
  { description: 'An installation on a code host that no organization has connected.' },
)

export const NewSetup = Closed({
  provider: OneOf(APP_PROVIDERS, { description: 'The code host.' }),
  organization: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The login of the organization on GitHub that will own the App. Defaults to your own account.',
    }),
  ),
  read_only_alerts: Type.Optional(
    Type.Boolean({ default: false, description: 'Do not ask for permission to dismiss security alerts on GitHub.' }),
  ),
  public: Type.Optional(Type.Boolean({ default: false, description: 'Let other accounts install the App too.' })),
})

export const AppState = Closed({
  provider: OneOf(APP_PROVIDERS, { description: 'The code host.' }),
  source: Nullable(OneOf(['environment', 'setup']), {
    description:
      'Who named the App: the environment of the server, or a setup. Null: there is none, and a setup creates it.',
  }),
  name: Nullable(Type.String({ description: 'The name of the App. Null if only the code host knows it.' })),
  install_url: Nullable(
    Type.String({
      description:
        'The page of the code host that installs the App, and then sends the browser back to the console. Null if only ' +
        'the code host knows it.',
    }),
  ),
})

export const Setup = Closed({
  url: Type.String({ description: 'The address to open in a browser. It works once.' }),
  expires_at: { ...Timestamp, description: 'Until when the address works.' },
})

const Secret = (description: string) => Type.String({ minLength: 1, maxLength: 8000, description })

const Credentials = Closed(
  {
    token: Type.Optional(Secret('A token of the account. Required unless `client_id` is given.')),
    client_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The id of an OAuth consumer (Bitbucket) or a service principal (Azure DevOps).',
      }),
    ),
    client_secret: Type.Optional(Secret('The secret of the client. Required with `client_id`.')),
    tenant_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'The Microsoft Entra tenant of a service principal.' }),
    ),
  },
  { description: 'What the server signs in to the account with. It is stored encrypted and never returned.' },
)

export const NewConnection = Closed({
  provider: Provider,
  installation_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The id of the installation of the GitHub App. Required for `github`.',
    }),
  ),
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description:
        'The account to connect: the path of a group on GitLab, a workspace on Bitbucket, or an organization on Azure ' +
        'DevOps. Required for every other provider than `github`.',
    }),
  ),
  credentials: Type.Optional(Credentials),
})

export const NewSync = Closed({
  since_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: SYNC_DAYS_MAX,
      description: 'Read everything again that is at most this many days old. Defaults to only what has changed.',
    }),
  ),
})

export const DeliveryPayload = Closed({
  payload: Type.String({ description: 'The body as it was received: JSON, or its start.' }),
  truncated: Type.Boolean({
    description: `Whether the payload is longer than the ${PAYLOAD_CHARS_MAX} characters here.`,
  }),
})

export const DeliveryQuery = definePageQuery(200, 50, {
  ...windowFilters,
  status: Type.Optional(OneOf(DELIVERY_STATUSES, { description: 'Return only deliveries with this status.' })),
})

export const HostDelivery = Closed(
  {
    id: Type.String({ description: 'The id of the delivery, which the code host assigned.' }),
    provider: Provider,
    event: Type.String({ description: 'The event, such as `workflow_run`.' }),
    action: Nullable(Type.String({ description: 'The action of the event, such as `completed`.' })),
    installation_id: Nullable(Type.String({ description: 'The id of the installation on the code host.' })),
    status: OneOf(DELIVERY_STATUSES, {
      description: '`received` deliveries are about to be applied. `ignored` ones contain nothing that is stored.',
    }),
    waiting: Type.Boolean({ description: 'Whether the delivery waits until its installation is connected.' }),
    attempts: Type.Integer({ description: 'How often the delivery was tried.' }),
    error: Nullable(Type.String({ description: 'Why the last try failed.' })),
    received_at: { ...Timestamp, description: 'When the delivery arrived.' },
    applied_at: time('When the delivery was applied or ignored.'),
    has_payload: Type.Boolean({
      description: 'Whether the payload is still stored, so that the delivery can be replayed. It is kept for 14 days.',
    }),
  },
  { description: 'A webhook delivery of a code host.' },
)
