/**
 * Who made a change: an API key, a user, a policy, Shiplock itself, or an administrator at the
 * command line.
 */
export type Principal = {
  type: 'api_key' | 'user' | 'policy' | 'system' | 'command_line'
  id: string | null
  name: string
}

export const SYSTEM: Principal = { type: 'system', id: null, name: 'Shiplock' }
export const COMMAND_LINE: Principal = { type: 'command_line', id: null, name: 'command line' }
