/** Who does something: a key of the API, a person, a policy, Shiplock itself, or whoever holds its command line. */
export type Principal = {
  type: 'api_key' | 'user' | 'policy' | 'system' | 'command_line'
  id: string | null
  name: string
}

export const SYSTEM: Principal = { type: 'system', id: null, name: 'Shiplock' }
export const COMMAND_LINE: Principal = { type: 'command_line', id: null, name: 'command line' }
