window.ui = SwaggerUIBundle({
  url: document.currentScript.dataset.document,
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayRequestDuration: true,
  layout: "BaseLayout",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
  validatorUrl: null,
});
