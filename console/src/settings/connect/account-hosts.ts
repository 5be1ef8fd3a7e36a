import { IconBrandAzure, IconBrandBitbucket, IconBrandGithub, IconBrandGitlab } from '@tabler/icons-react'
import type { Provider } from '../../page/names.ts'

const BITBUCKET_NEEDS: CredentialsKind['needs'] = [
  ['Account', 'read; tokens of a repository do not have it'],
  ['Repositories', 'read; admin, if branch restrictions are to be read'],
  ['Pull requests', 'read'],
  ['Pipelines', 'read'],
  ['Webhooks', 'read and write'],
]

const AZURE_PROJECTS: CredentialsKind['needs'] = [
  ['Each project', 'a contributor who may view and edit service hook subscriptions'],
]

export const ACCOUNT_HOSTS: Record<AccountProvider, AccountHost> = {
  gitlab: {
    account: {
      label: 'Group',
      description:
        'Its path on gitlab.com, or on the server that SHIPLOCK_GITLAB_URL names. Projects of its subgroups are included.',
      placeholder: 'acme/platform',
    },
    kinds: [
      {
        type: 'token',
        name: 'Access token',
        about: 'Of the group.',
        secret: { label: 'Access token', description: 'A group access token, or the token of a service account.' },
        needs: [
          ['Scope', 'api'],
          ['Role', 'Maintainer. An Owner gets one webhook for the whole group (Premium), others one for each project.'],
          ['Protected environments', 'allowed to approve, where Shiplock is to answer deployments.'],
        ],
      },
    ],
  },
  bitbucket: {
    account: {
      label: 'Workspace',
      description: 'Its ID, as in the address bitbucket.org/acme.',
      placeholder: 'acme',
    },
    kinds: [
      {
        type: 'token',
        name: 'Access token',
        about: 'Of the workspace (Premium), or of one repository, which is then all that is read.',
        secret: { label: 'Access token' },
        needs: BITBUCKET_NEEDS,
      },
      {
        type: 'client',
        name: 'OAuth consumer',
        about: 'Of the workspace, with “This is a private consumer” selected.',
        id: { label: 'Key' },
        secret: { label: 'Secret' },
        needs: BITBUCKET_NEEDS,
      },
    ],
  },
  azure: {
    account: {
      label: 'Organization',
      description: 'Its name, as in the address dev.azure.com/acme.',
      placeholder: 'acme',
    },
    kinds: [
      {
        type: 'token',
        name: 'Personal access token',
        about: 'Acts as the person or account that created it, and expires.',
        secret: { label: 'Personal access token' },
        needs: [
          ['Code', 'read, status'],
          ['Build', 'read'],
          ['Environment', 'read and manage'],
          ['Project and team', 'read'],
          ['Service connections', 'read, query and manage, for the check that asks Shiplock'],
          ['Advanced Security', 'read and write, for alerts'],
          ...AZURE_PROJECTS,
        ],
      },
      {
        type: 'client',
        name: 'Service principal',
        about: 'An application in Microsoft Entra, which belongs to nobody.',
        tenant: { label: 'Directory (tenant) ID' },
        id: { label: 'Application (client) ID' },
        secret: { label: 'Client secret', description: 'Its value, not its ID.' },
        needs: [
          ['Organization', 'a user with the access level Basic'],
          ...AZURE_PROJECTS,
          ['Advanced Security', 'read and dismiss alerts'],
        ],
      },
    ],
  },
}

export const PROVIDER_ICONS: Record<Provider, typeof IconBrandGithub> = {
  github: IconBrandGithub,
  gitlab: IconBrandGitlab,
  bitbucket: IconBrandBitbucket,
  azure: IconBrandAzure,
}

/** The code hosts whose accounts are connected with credentials of their own. */
export type AccountProvider = Exclude<Provider, 'github'>

export type Field = { label: string; description?: string; placeholder?: string }

/** One kind of credentials: how it is chosen, what is entered, and what it must permit. */
export type CredentialsKind = {
  type: 'token' | 'client'
  name: string
  about: string
  secret: Field
  /** Only of a client. */
  id?: Field
  /** Only where clients belong to a directory. */
  tenant?: Field
  /** The permissions: what, and how far. */
  needs: [what: string, level: string][]
}

type AccountHost = { account: Field; kinds: readonly [CredentialsKind, ...CredentialsKind[]] }
