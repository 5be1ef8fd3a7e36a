import { Component, type ReactNode } from 'react'

type ErrorBoundaryProps = {
  /** Shown in place of children that cannot be shown. */
  fallback: ReactNode
  children: ReactNode
}

/** Keeps a part of a page that fails, such as hostile Markdown, from taking the page with it. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children
  }
}
