import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { CODE_HOST_PATH, type Connection } from './connection.ts'

export function useConnectionActions({ id, account }: Connection) {
  const { slug: org } = useOrganization()
  const { mutateAsync: requestSync } = useApiMutation('post', `${CODE_HOST_PATH}/sync`, ['code_host'])
  const { mutateAsync: removeConnection } = useApiMutation('delete', CODE_HOST_PATH, ['code_host'])
  const [isBusy, setBusy] = useState(false)
  const params = { path: { org, id } }
  return {
    isBusy,
    synchronize: async () => {
      setBusy(true)
      try {
        await requestSync({ params, body: {} })
        notifyDone(`The synchronization of ${account.login} was requested.`)
      } catch (error) {
        notifyFailed(`${account.login} could not be synchronized`, error)
      }
      setBusy(false)
    },
    disconnect: async () => {
      await removeConnection({ params })
      notifyDone(`Disconnected ${account.login}.`)
    },
  }
}
