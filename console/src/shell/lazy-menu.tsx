import type { ButtonProps } from '@mantine/core'
import { type ComponentPropsWithRef, type ComponentType, useState } from 'react'
import { lazyPart, ScriptNotice } from '../page/lazy-part.tsx'

/** The button of a menu, the same before and after the menu is loaded. */
export type MenuButton = ComponentType<ButtonProps & Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps>>

/** A menu that is loaded when it is opened for the first time. */
export function lazyMenu(load: () => Promise<ComponentType<{ button: MenuButton }>>) {
  return lazyPart(load, {
    waiting: ({ button: Button }) => <Button aria-haspopup="menu" aria-expanded={false} />,
    failed: ({ button: Button }) => (
      <>
        <Button aria-haspopup="menu" aria-expanded={false} />
        <ScriptNotice title="The menu could not be loaded" />
      </>
    ),
  })
}

type LazyMenuProps = {
  button: MenuButton
  /** Shows the button, takes the focus, and opens itself. */
  menu: ComponentType<{ button: MenuButton }>
  load: () => Promise<unknown>
}

/** A button whose menu is loaded when somebody reaches for it. */
export function LazyMenu({ button: Button, menu: Menu, load }: LazyMenuProps) {
  const [isWanted, setWanted] = useState(false)
  const prepare = () => void load().catch(() => {})
  if (isWanted) return <Menu button={Button} />
  return (
    <Button
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={() => setWanted(true)}
    />
  )
}
