import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useRefresh } from '../../api/use-refresh.ts'
import { CODE_HOST_PATH, CODE_HOSTS_PATH, type Connection } from './connection.ts'

export function useConnectionActions({ id, account }: Connection) {
  const { slug: org } = useOrganization()
  const refresh = useRefresh()
  const [isBusy, setBusy] = useState(false)
  const params = { path: { org, id } }
  return {
    isBusy,
    synchronize: async () => {
      setBusy(true)
      try {
        await client.POST(`${CODE_HOST_PATH}/sync`, { params, body: {} })
        notifyDone(`The synchronization of ${account.login} was requested.`)
        await refresh(CODE_HOSTS_PATH)
      } catch (error) {
        notifyFailed(`${account.login} could not be synchronized`, error)
      }
      setBusy(false)
    },
    disconnect: async () => {
      await client.DELETE(CODE_HOST_PATH, { params })
      notifyDone(`Disconnected ${account.login}.`)
      await refresh(CODE_HOSTS_PATH)
    },
  }
}
