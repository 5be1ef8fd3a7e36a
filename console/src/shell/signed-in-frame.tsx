import { Outlet } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ConfirmIdentityDialog } from '../actions/confirm-identity-dialog.tsx'
import { listenToKeys } from '../actions/shortcuts.ts'
import { PageAnnouncer } from './page-announcer.tsx'
import { ShellDialogs } from './shell-dialogs.tsx'

/** What every page of somebody who is signed in may need: dialogs, keys, announcements. */
export function SignedInFrame() {
  useEffect(listenToKeys, [])
  return (
    <>
      <Outlet />
      <ConfirmIdentityDialog />
      <ShellDialogs />
      <PageAnnouncer />
    </>
  )
}
