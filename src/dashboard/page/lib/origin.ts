// Where clients reach the API: where this page is, unless the dashboard stands apart from it.

export const API_ORIGIN = document.querySelector<HTMLMetaElement>('meta[name=api]')?.content ?? location.origin
