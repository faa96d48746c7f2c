//! Whether a server serves, by the health protocol that every gRPC server has.

use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Whether a service of the server serves; an empty name asks for all of them.
    pub async fn is_serving(&self, service: &str) -> Result<bool, Error> {
        let request = HealthCheckRequest { service: service.to_owned() };
        let answer = self.call(request, |channel, request| async move { HealthClient::new(channel).check(request).await }).await?;
        Ok(answer.status() == ServingStatus::Serving)
    }
}
