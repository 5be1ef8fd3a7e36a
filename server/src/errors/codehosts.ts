import { defineError } from '../platform/http/api-error.ts'

/** Connections to code hosts, their setup, and what code hosts deliver. */

export const codeRefused = defineError({
  status: 400,
  code: 'code_refused',
  cause: 'Setup of a code host: GitHub refused the code, or did not send the credentials of the App.',
  remedy: 'Start the setup again.',
})

export const invalidCredentials = defineError({
  status: 400,
  code: 'invalid_credentials',
  cause: 'Application API: the code host does not accept the credentials of an account.',
  remedy: 'Create new ones with the permissions that the page of the host lists.',
})

export const hostRoleTooLow = defineError({
  status: 403,
  code: 'host_role_too_low',
  cause: 'Application API: the owner of the credentials may read the account at the code host, and not manage it.',
  remedy: 'Create credentials with the role that the page of the host names.',
})

export const serverAdminRequired = defineError({
  status: 403,
  code: 'server_admin_required',
  cause:
    'Application API: several organizations share the server, so that people can neither set up its App nor connect ' +
    'an installation that is not theirs.',
  remedy: 'Ask an administrator of the server.',
  message: (task: string, command: string) =>
    `Several organizations share this server. Only its administrator can ${task}, with "${command}".`,
})

export const accountConnected = defineError({
  status: 409,
  code: 'account_connected',
  cause: 'Application API: another organization of the server has connected the account.',
  remedy: 'Disconnect it there first.',
})

export const alreadyConfigured = defineError({
  status: 409,
  code: 'already_configured',
  cause: 'Application API: the environment of the server names the App, or another organization of the server uses it.',
  remedy: 'Ask an administrator of the server.',
})

export const alreadyRemoved = defineError({
  status: 409,
  code: 'already_removed',
  cause: 'Application API: the connection to the code host has ended.',
  remedy: 'Connect the account again.',
  message: (account: string) => `The connection to ${account} is already removed`,
})

export const notActive = defineError({
  status: 409,
  code: 'not_active',
  cause: 'Application API: the connection to the code host has ended, or is suspended.',
  remedy: 'Connect the account again.',
  message: (id: string, status: string) => `The connection ${id} is ${status}`,
})

export const notConfigured = defineError({
  status: 409,
  code: 'not_configured',
  cause: 'Application API: the server has no App on the code host.',
  remedy: 'Set up the App.',
})

export const notReplayable = defineError({
  status: 409,
  code: 'not_replayable',
  cause: 'Application API: the delivery has not been applied yet, or its payload has expired.',
  remedy: 'Wait, or synchronize the connection.',
})

export const hostUnavailable = defineError({
  status: 502,
  code: 'host_unavailable',
  cause: 'Application API: the code host cannot be reached.',
  remedy: 'Try again later.',
})
