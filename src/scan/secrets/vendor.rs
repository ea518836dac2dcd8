//! Keys without a form of their own, beside the name of the service that gives them: `fastly_key = ...`.

use super::plausible;
use crate::scan::finding::{Finding, is_word_char};
use crate::scan::floor_boundary;
use regex::Regex;
use std::sync::LazyLock;

/// The kind of what is found here.
pub const KIND: &str = "service_key";
/// A value is looked for within this many bytes behind the name.
const REACH: usize = 640;
/// A key without form is no shorter.
const MIN_KEY: usize = 16;
/// A service's name, an operator and a generated value: surer than a word such as `key`, less than a form.
const CONFIDENCE: f64 = 0.7;

/// Words that may stand between the name and the value, what joins them, and the value.
static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)\A(?:[ \t_.-]{0,2}(?:api|app|key|token|secret|access|private|personal|pat|auth|oauth|client|code|bearer|user|org|admin|account|rest|sdk|crm|sms|live|prod|test|dev|v\d|password|x))*["'`\])]{0,3}[ \t]{0,4}(?:==|=>|:=|\|\||[:=,|>(-])?[ \t]{0,4}["'`(]{0,3}([A-Z0-9][A-Z0-9_+/=.~-]{15,511})"#,
    )
    .expect("a constant that the tests compile")
});

/// Services whose keys have no published form, or had none for long. No common words.
pub const NAMES: &str = "anthropic auth0 blynk cerebras databento deepseek dockerhub facebook fireworks google grafana groq jenkins \
    jfrog langchain langsmith okta openvpn particle perplexity pinecone posthog pubnub qdrant replicate runpod sauce sentry \
    shopify slack stripe supabase telegram thingsboard together truenas vonage voyage weaviate wireguard abstractapi accuweather activecampaign adobe ahrefs airbrake aircall airship alchemyapi \
    algolia aliyun amplitude anypoint apiflash apollo appcues appdynamics appfollow appsflyer artifactory asana assemblyai \
    atlassian authy autodesk aviationstack axonaut azure bamboohr bannerbear baremetrics basecamp beamer billomat bitbucket \
    bitfinex bitly bitmex blazemeter bluesnap bombbomb braintree branchio browserstack bugsnag buildkite bunnycdn buttercms \
    calendarific calendly campaignmonitor cannyio capsulecrm census chargebee chartmogul circleci clarifai clearbit \
    clickhouse clicksend clicktime clientary clockify cloudant cloudconvert cloudflare cloudimage cloudinary cloudmersive \
    cloudsmith cloudways codacy codeclimate codecov codemagic cohere coinapi coinbase coinlayer coinmarketcap confluent \
    contentful convertkit copper coveralls currencycloud currencylayer currencyscoop customerio dandelion datadog datagov \
    deepai deepgram delighted detectify detectlanguage dfuse dialogflow diffbot digicert digitalocean discogs docparser \
    docusign dovico dribbble droneci dropbox drupal duply dwolla dynalist edamam edenai elasticemail elevenlabs enigma \
    etherscan etsy eventbrite everhour exchangerate fastforex fastly figshare filestack finage findl finnhub firebase \
    fixerio flickr flightapi flightstats float flowflu foursquare freshbooks freshdesk freshservice fullstory fullcontact \
    gemfury geocodio geoapify geocode getgist getresponse giphy github gitlab gitter glassnode gocanvas gocardless goodreads \
    graphcms graphhopper groovehq gumroad guru happyscribe harvest hellosign helpcrunch helpscout heroku hereapi hiveage \
    honeybadger hubspot humanity hunterio hypertrack iconfinder impala imagekit infura insightly instabot intercom \
    interseller ipapi ipdata ipgeolocation ipify ipinfo ipstack jotform jumpcloud juro kanban karmacrm keenio kickbox \
    klaviyo knapsack kontent kraken kucoin kylas languagelayer launchdarkly leadfeeder lemlist lemonsqueezy lendflow \
    linemessaging linkedin linode livestorm lob locationiq loginradius logdna loggly logzio lokalise looker luno madkudu \
    magnetic mailboxlayer mailchimp mailerlite mailgun mailjet mailmodo mailsac mandrill mapbox mapquest marketstack \
    mattermost maxmind mavenlink mediastack meistertask messagebird metaapi metabase mindmeister miro mistral mixpanel \
    moderation monkeylearn moonclerk moosend mrticktock myfreshworks myintervals nasdaq nethunt netlify neutrino newrelic \
    newsapi newscatcher nexmo nftport ngc nicereply nimble nitro noticeable nozbe nugetapi numverify nutritionix nvidia \
    nytimes nylas oanda omnisend onedesk onelogin onepagecrm onfleet openai opencage opencagedata opengraphr openuv \
    openweather openweathermap opsgenie optimizely owlbot pagerduty pandadoc paperform paralleldots parsehub parsers \
    parseur partnerstack passbase pastebin paydirtapp paymo paymongo paypal paystack pdflayer pdfshift peopledatalabs \
    pepipost persona phraseapp pipedream pipedrive pivotaltracker pixabay plaid planio planviewleankit podio polygonio \
    postageapp postbacks postman postmark powrbot prismic prodpad prospectcrm proxycrawl purestake pushbullet pusher \
    pushover pyowm qase qualaroo quickbooks quickmetrics ramp rapidapi raven rawg razorpay readme reallysimple \
    rechargepayments recruitee redash refiner rentman repairshopr requestfinance restpack revamp ringcentral ritekit \
    roaring rocketreach rollbar route4me rownd runrunit runscope salesblink salesforce salesflare salesmate satismeter \
    saucelabs scaleway scalr scrapeowl scraperapi scrapestack scrapfly scrapingant scrapingbee screenshotapi \
    screenshotlayer securitytrails segment selectpdf semaphore sendbird sendinblue sentiment serphouse serpstack sharefile \
    sherpadesk shipday shippo shodan shortcut shotstack shutterstock sigopt simplesat simplynoted simvoly sirv siteleaf \
    skrapp skybiometry slackapi smartsheet smartystreets smooch snipcart snyk solarwinds sonarcloud sonarqube sparkpost \
    splunk spoonacular sportsmonks spotify squarespace sslmate statuscake statuspage statuspal stitchdata stockdata \
    stormglass storyblok storychief strava streak stytch sugester sumologic supernotes surveyanyplace surveybot \
    surveysparrow survicate swell swiftype tallyfy tatum taxjar teamgate teamworkcrm teamworkdesk telnyx teletype tefter \
    testingbot textmagic theoddsapi thinkific thousandeyes ticketmaster tiingo timezoneapi tineswebhook tmetric todoist \
    toggl tomorrowio tomtom tradier transferwise travelpayouts travisci trello trufflehog tubebuddy twelvelabs twilio \
    twist twitch twitter tyntec typeform ubidots uclassify unify unplugg unsplash upcdatabase uplead uploadcare \
    uptimerobot upwave urlscan userflow userstack vatlayer vercel versioneye viewneo virustotal visualcrossing voicegain \
    voodoosms vouchery vyte walkscore wandb weatherbit weatherstack webex webflow webscraper webscraping wepay whoxy \
    wistia wordsapi workday workstack worldcoinindex worldweather wrike xata xing yahoo yandex yelp yodlee youneedabudget \
    youtube zapier zendesk zenrows zenscrape zenserp zeplin zerobounce zerotier zipapi zipbooks zipcodeapi zipcodebase \
    zixmail zoho zonka zoominfo zulip";

/// Adds the key behind the name between the two places; gives where it ends.
pub fn look(text: &str, (start, end): (usize, usize), found: &mut Vec<Finding>) -> Option<usize> {
    if text[..start]
        .chars()
        .next_back()
        .is_some_and(|c| (is_word_char(c) && c != '_') || matches!(c, '.' | '/' | '@'))
    {
        return None;
    }
    let rest = &text[end..floor_boundary(text, end + REACH)];
    let value = BEHIND.captures(rest)?.get(1)?;
    let key = value.as_str().trim_end_matches(['.', '-', '=']);
    if !is_key(key) {
        return None;
    }
    let place = (end + value.start(), end + value.start() + key.len());
    found.push(Finding { kind: KIND, start: place.0, end: place.1, confidence: CONFIDENCE });
    Some(place.1)
}

/// Hexadecimal, a UUID, or letters and digits without order: no word, version, path or name of a file.
fn is_key(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    let longest = key.split(['-', '_', '.', '/', '=', '+', '~']).map(str::len).max().unwrap_or(0);
    let has_word =
        key.split(['-', '.']).any(|piece| piece.len() > 3 && piece.bytes().all(|b| b.is_ascii_alphabetic()));
    let run = key.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    key.len() >= MIN_KEY
        // A long number with a word behind it is an identifier.
        && run * 2 <= key.len()
        && digits >= if key.len() < 20 { 4 } else { 3 }
        && (!key.contains('/') || key.ends_with('=') || key.contains('+') || longest >= 24)
        && digits < key.len()
        && (longest >= 16 || plausible::is_uuid(key) || key.contains(['-', '.']) && longest >= 5 && digits >= 8 && !has_word)
        && plausible::entropy(key) >= 3.0
        && plausible::is_varied(key)
        && !plausible::is_placeholder(key)
        && !plausible::is_code(key)
}
